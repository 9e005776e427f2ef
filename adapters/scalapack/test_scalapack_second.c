/* SPDX-License-Identifier: MIT */
/* test_scalapack_second.c - Hessians of distributed computations times a vector, on 1 to 4
 * ranks, against those of the same computation on one tape. */
#include "matrices.h"

typedef struct curved {
    double a[MOST], b[MOST]; /* the parts of H v by the elements of a and b */
} curved;

/* H v of both outputs together, seeded on the last rank; v: the tangents of lane `lane`. */
static curved curve(place p, const operands *o, size_t lane) {
    const wg_options keeps = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keeps);
    curved r = {{0}, {0}};
    double v[2 * MOST], hv[2 * MOST] = {0}, unused[MOST];
    wg_real x[2 * MOST], y[OUTPUTS];
    const wg_mat m2[2] = {bring(t, p, &o->a, 0), bring(t, p, &o->b, 0)};
    const whole *const of[2] = {&o->a, &o->b};
    size_t n = 0;
    for (int k = 0; k < 2; k++) {
        if (!of[k]->varies) continue;
        take(p, of[k], of[k]->tangent[lane], v + n);
        for (size_t j = 0; j < m2[k].cols; j++)
            for (size_t i = 0; i < m2[k].rows; i++) x[n++] = wg_mat_at(m2[k], i, j);
    }
    compute(t, p, o, m2[0], m2[1], y, unused);
    const wg_real f = wg_let(t, wg_mul(y[0], y[1]));
    const int seeded = p.g == NULL || rank == size - 1;
    if (p.g != NULL) assert_ok(t, wg_mpi_hvp(t, seeded ? f : wg_constant(0), n, x, v, hv, m));
    else assert_ok(t, wg_tape_hvp(t, f, n, x, v, hv));
    size_t at = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; of[k]->varies && i < m2[k].rows * m2[k].cols; i++)
            (k == 0 ? r.a : r.b)[i] = hv[at++];
    wg_tape_free(t);
    return r;
}

static void same_curves(const operands *o) {
    curved one[LANES];
    for (size_t l = 0; l < LANES; l++) one[l] = curve((place){NULL, 0}, o, l);
    for (int rows = 1; rows <= size; rows++) {
        if (size % rows != 0) continue;
        wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, rows, size / rows);
        for (size_t l = 0; l < LANES; l++) {
            const place p = {g, 1 + 3 * l};
            const curved these = curve(p, o, l);
            all(!o->a.varies || same_part(p, &o->a, these.a, one[l].a));
            all(!o->b.varies || same_part(p, &o->b, these.b, one[l].b));
        }
        wg_scalapack_free(g);
    }
}

static void products_are_those_of_one_tape(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        const operands o = a_product("NTNT"[k], "NNTT"[k], 5, 4, 6);
        same_curves(&o);
    }
}

static void systems_are_those_of_one_tape(void **state) {
    (void)state;
    operands o = a_system(7, 2);
    same_curves(&o);
    o.a.varies = 0;
    same_curves(&o);
    o.a.varies = 1, o.b.varies = 0;
    same_curves(&o);
}

static void determinants_alone_are_those_of_one_tape(void **state) {
    (void)state;
    const operands o = a_system(6, 0);
    same_curves(&o);
}

static void all_is_well_on_ranks_without_a_part(void **state) {
    (void)state;
    const operands o = a_system(1, 1);
    same_curves(&o);
}

/* The rows of a Hessian that is whole: of n numbers of rank 0, which make the matrix. */
static void hessians_are_whole(void **state) {
    (void)state;
    enum { N = 3 };
    const wg_options keeps = {.flags = WG_KEEP_CODE};
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    double h[2][N * N] = {{0}};
    for (int far = 0; far < 2; far++) {
        wg_tape *const t = wg_tape_new(&keeps);
        const size_t n = far && rank != 0 ? 0 : N;
        wg_real x[N], p[N], log;
        for (size_t i = 0; i < N; i++)
            x[i] = p[i] = n != 0 ? wg_input(t, 1.5 + (double)i) : wg_constant(0);
        if (far) wg_mpi_bcast(t, p, N, 0, m);
        /* diag(p) + p1 e e' */
        const place here = {far ? g : NULL, 1};
        const size_t rows = rows_here(here, N), cols = cols_here(here, N);
        wg_real e[N * N];
        for (size_t j = 0; j < cols; j++)
            for (size_t i = 0; i < rows; i++) {
                const size_t r = number(here, N, i, j) % N, c = number(here, N, i, j) / N;
                e[i + j * rows] = r == c ? wg_let(t, wg_add(wg_square(p[r]), p[1])) : p[1];
            }
        const wg_mat a = wg_mat_gather(t, rows, cols, e);
        if (far)
            (void)wg_scalapack_solve_spd(t, wg_scalapack_local(t, g, N, N, 1, a),
                                         (wg_scalapack_mat){0}, NULL, &log);
        else log = wg_logdet_spd(t, a);
        if (far)
            assert_ok(t,
                      wg_mpi_hessian(t, rank == 0 ? log : wg_constant(0), n, x, h[far], N, m));
        else
            for (size_t k = 0; k < N; k++) {
                double v[N] = {0}, hv[N];
                v[k] = 1;
                assert_ok(t, wg_tape_hvp(t, log, N, x, v, hv));
                for (size_t i = 0; i < N; i++) h[0][i * N + k] = hv[i];
            }
        wg_tape_free(t);
    }
    int good = 1;
    for (size_t i = 0; rank == 0 && i < N * N; i++) good &= close(h[1][i], h[0][i], 1);
    all(good);
    wg_scalapack_free(g);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_one_tape),
        cmocka_unit_test(systems_are_those_of_one_tape),
        cmocka_unit_test(determinants_alone_are_those_of_one_tape),
        cmocka_unit_test(all_is_well_on_ranks_without_a_part),
        cmocka_unit_test(hessians_are_whole),
    };
    open_ranks(&argc, &argv);
    m = wg_mpi_new(MPI_COMM_WORLD, 0);
    return close_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
