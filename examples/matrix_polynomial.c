/* SPDX-License-Identifier: MIT */
/* The polynomial z = x^2 + 2 x + x y + y of matrices, element by element, and its adjoints for
 * a seed that is a matrix: x_ = w (2 x + 2 + y), y_ = w (x + 1).
 *
 * All numbers here are small multiples of 1/4, so everything is exact, and the exit status is 0
 * when not a bit differs from the closed form. */
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

enum { ROWS = 3, COLS = 4, SIZE = ROWS * COLS };

static wg_mat polynomial(wg_tape *t, wg_mat x, wg_mat y) {
    const wg_mat squares = wg_mat_axpby(t, 1, wg_mat_mul(t, x, x), 2, x);
    return wg_mat_add(t, squares, wg_mat_add(t, wg_mat_mul(t, x, y), y));
}

static void print(const char *name, const double *a) {
    for (size_t i = 0; i < ROWS; i++) {
        printf("%-6s", i == 0 ? name : "");
        for (size_t j = 0; j < COLS; j++) printf(" %8.4f", a[i + j * ROWS]);
        printf("\n");
    }
}

int main(void) {
    double x[SIZE], y[SIZE], w[SIZE], z[SIZE], dx[SIZE], dy[SIZE];
    for (size_t i = 0; i < SIZE; i++) {
        x[i] = 0.25 * (double)i - 1;
        y[i] = 4 - 0.5 * (double)(i % 5);
        w[i] = (double)(i % 3) - 0.5;
    }
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, ROWS, COLS, x, ROWS);
    const wg_mat b = wg_mat_input(t, ROWS, COLS, y, ROWS);
    const wg_mat c = polynomial(t, a, b);
    wg_status status = wg_mat_reverse(t, c, w, ROWS);
    if (status == WG_OK) status = wg_mat_value(t, c, z, ROWS);
    if (status == WG_OK) status = wg_mat_adjoint(t, a, dx, ROWS);
    if (status == WG_OK) status = wg_mat_adjoint(t, b, dy, ROWS);
    if (status != WG_OK) {
        fprintf(stderr, "matrix_polynomial: %s\n", wg_tape_message(t));
        wg_tape_free(t);
        return EXIT_FAILURE;
    }
    wg_tape_free(t);

    print("z", z);
    print("w", w);
    print("dx", dx);
    print("dy", dy);
    size_t wrong = 0;
    for (size_t i = 0; i < SIZE; i++)
        wrong += z[i] != x[i] * x[i] + 2 * x[i] + x[i] * y[i] + y[i] ||
                 dx[i] != w[i] * (2 * x[i] + 2 + y[i]) || dy[i] != w[i] * (x[i] + 1);
    printf("%zu of %d elements differ from the closed form\n", wrong, (int)SIZE);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
