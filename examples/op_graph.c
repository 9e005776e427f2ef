/* SPDX-License-Identifier: MIT */
/* An op-graph: y = tanh(w x + b), with a squared error.
 *
 * The graph is built once. After that only its variables change, and what is fed to its
 * placeholders. All that is asked of it becomes a computation, which does what it was asked for
 * and nothing else: predictions, the loss, a step down the gradient. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/model.h>

enum { POINTS = 40, FEATURES = 2, OUTPUTS = 3, STEPS = 60 };

/* Where something fails the tape knows what, and where. */
static void need(const wg_tape *t, wg_status s) {
    if (s == WG_OK) return;
    fprintf(stderr, "%s\n%s\n", wg_status_text(s), wg_tape_message(t));
    exit(EXIT_FAILURE);
}

/* Points and their targets: what w and b have to be found from. */
struct data {
    double x[POINTS][FEATURES], target[POINTS][OUTPUTS];
};

static void make(struct data *d) {
    static const double w[OUTPUTS][FEATURES] = {{1, -0.5}, {0.25, 0.75}, {-1, 0.5}};
    static const double b[OUTPUTS] = {0.1, -0.2, 0.3};
    for (int p = 0; p < POINTS; p++) {
        for (int j = 0; j < FEATURES; j++) d->x[p][j] = (7 + 6 * j) * p % 40 / 20.0 - 1;
        for (int i = 0; i < OUTPUTS; i++)
            d->target[p][i] = tanh(w[i][0] * d->x[p][0] + w[i][1] * d->x[p][1] + b[i]);
    }
}

static void print_nodes(wg_model *m, const char *title, size_t n, const wg_mat *a) {
    printf("%s", title);
    for (size_t k = 0; k < n; k++) {
        wg_node node;
        if (wg_model_node(m, a[k], &node) == WG_OK) printf(" %s", node.name);
    }
    printf("\n");
}

static void print_matrix(const char *name, const double *a, size_t rows, size_t cols) {
    printf("%s =", name);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) printf(" %8.5f", a[i + j * rows]);
        printf("%s", i + 1 < rows ? "  |" : "\n");
    }
}

int main(void) {
    struct data d;
    make(&d);
    const wg_options options = {.flags = WG_KEEP_CODE};
    wg_tape *t = wg_tape_new(&options);
    wg_model *m;
    need(t, wg_model_new(t, &m));

    /* ---- the graph. Axes have names; a vector is a matrix with one column ---- */
    const wg_dim features = {"features", FEATURES}, outputs = {"outputs", OUTPUTS};
    const wg_dim one = {NULL, 1};
    wg_mat x = wg_model_placeholder(m, "x", features, one, 0, NULL);
    wg_mat target = wg_model_placeholder(m, "target", outputs, one, WG_PASSIVE, NULL);
    wg_mat rate = wg_model_placeholder(m, "rate", one, one, WG_SHARED | WG_PASSIVE, NULL);
    wg_mat w = wg_model_variable(m, "w", outputs, features, wg_initial_normal(1, 0, 0.5));
    wg_mat b = wg_model_variable(m, "b", outputs, one, wg_initial_fill(0));
    need(t, wg_model_tag(m, w, "weights"));

    wg_mat wx = wg_model_op(m, wg_matmul, w, x);
    wg_mat sum = wg_model_op(m, wg_mat_add, wx, b);
    wg_mat y = wg_model_op(m, wg_mat_tanh, sum);
    (void)wg_model_name(m, y, "y", NULL, NULL);
    /* any operation of the tape will do; what is asked for later is given a name */
    wg_mat e = wg_model_op(m, wg_mat_sub, y, target);
    wg_mat square = wg_model_op(m, wg_mat_square, e);
    wg_mat error = wg_mat_sum_axis(t, square, WG_ALL);
    (void)wg_model_name(m, error, "error", NULL, NULL);
    wg_mat loss = wg_model_sum(m, error); /* over the points, however many there will be */
    (void)wg_model_name(m, loss, "loss", NULL, NULL);

    /* ---- derivatives are nodes: used like the others, differentiated again ---- */
    const wg_mat variables[] = {w, b};
    wg_mat dloss[2], hv;
    need(t, wg_model_gradient(m, loss, 2, variables, dloss));
    wg_mat v = wg_model_placeholder(m, "v", outputs, features, WG_SHARED | WG_PASSIVE, NULL);
    wg_mat product = wg_model_op(m, wg_mat_mul, dloss[0], v);
    wg_mat slope = wg_mat_sum_axis(t, product, WG_ALL); /* of the loss, along v */
    (void)wg_model_name(m, slope, "slope", NULL, NULL);
    need(t, wg_model_gradient(m, slope, 1, &w, &hv)); /* the Hessian times v */

    /* ---- a step down: w and b become these after any run that computes them ---- */
    wg_mat step[2];
    for (int k = 0; k < 2; k++) {
        step[k] = wg_model_op(m, wg_mat_mul, rate, dloss[k]);
        step[k] = wg_model_op(m, wg_mat_sub, variables[k], step[k]);
        need(t, wg_model_update(m, variables[k], step[k]));
    }
    need(t, wg_tape_status(t)); /* of all that was recorded: ask once */

    /* ---- looking at it ---- */
    need(t, wg_model_print(m, wg_write_file, stdout));
    FILE *picture = tmpfile();
    if (picture != NULL) need(t, wg_model_dot(m, wg_write_file, picture));
    printf("\nGraphviz: %s\n", picture != NULL && ftell(picture) > 0 ? "written" : "no file");
    if (picture != NULL) (void)fclose(picture);
    wg_mat found[4];
    size_t n = wg_model_find(m, WG_VARIABLE | WG_PLACEHOLDER, NULL, NULL, &y, 4, found);
    print_nodes(m, "y depends on:", n, found);
    n = wg_model_find(m, WG_VARIABLE, NULL, "weights", &loss, 4, found);
    print_nodes(m, "weights of the loss:", n, found);

    /* what does not go together is noticed when it is written down */
    const wg_mark here = wg_tape_mark(t);
    (void)wg_model_op(m, wg_matmul, w, target);
    printf("a mistake: %s\n\n", wg_tape_message(t));
    need(t, wg_tape_rewind(t, here));

    /* ---- computations ---- */
    wg_function *predict, *train, *curvature;
    need(t, wg_model_function(m, 1, &y, &predict));
    need(t, wg_model_function(m, 3, (wg_mat[]){loss, step[0], step[1]}, &train));
    need(t, wg_model_function(m, 2, (wg_mat[]){slope, hv}, &curvature));
    printf("inputs of a prediction:");
    for (size_t k = 0; k < wg_function_inputs(predict); k++)
        printf(" %s", wg_function_input(predict, k)->name);
    wg_function_stats small, large;
    need(t, wg_function_statistics(predict, &small));
    need(t, wg_function_statistics(train, &large));
    printf("; it does %zu operations at a point, a step %zu\n", small.each, large.each);

    const double learning_rate = 0.01;
    need(t, wg_model_feed(m, x, d.x[0], FEATURES, 1));
    need(t, wg_model_feed(m, target, d.target[0], OUTPUTS, 1));
    need(t, wg_model_feed(m, rate, &learning_rate, 0, 1));
    const double direction[OUTPUTS * FEATURES] = {1}; /* of the first entry of w */
    need(t, wg_model_feed(m, v, direction, 0, 1));
    double value, product_hv[OUTPUTS * FEATURES];
    const wg_results second[] = {{&value, 0, 1}, {product_hv, 0, 1}};
    need(t, wg_model_run(m, curvature, POINTS, second, NULL));
    printf("slope %.5f, ", value);
    print_matrix("H v", product_hv, OUTPUTS, FEATURES);
    for (int k = 0; k <= STEPS; k++) {
        const wg_results results[] = {{&value, 0, 1}, {NULL, 0, 0}, {NULL, 0, 0}};
        need(t, wg_model_run(m, train, POINTS, results, NULL));
        if (k % 20 == 0) printf("step %2d  loss %.8f\n", k, value);
    }

    /* ---- the variables are kept in a file, and come back to the last bit ---- */
    double *const values = wg_model_values(m, w), kept[OUTPUTS * FEATURES];
    memcpy(kept, values, sizeof kept);
    FILE *const file = tmpfile();
    if (file == NULL) return EXIT_FAILURE;
    need(t, wg_model_save(m, wg_write_file, file));
    need(t, wg_model_initialise(m));
    print_matrix("w at first  ", values, OUTPUTS, FEATURES);
    rewind(file);
    need(t, wg_model_restore(m, wg_read_file, file));
    (void)fclose(file);
    print_matrix("w restored  ", values, OUTPUTS, FEATURES);

    double prediction[2][OUTPUTS]; /* of the first two points only */
    const wg_results result = {prediction[0], OUTPUTS, 1};
    need(t, wg_model_run(m, predict, 2, &result, NULL));
    print_matrix("y           ", prediction[0], OUTPUTS, 1);
    print_matrix("its target  ", d.target[0], OUTPUTS, 1);
    const int same = memcmp(kept, values, sizeof kept) == 0;

    wg_function_free(predict);
    wg_function_free(train);
    wg_function_free(curvature);
    wg_model_free(m);
    wg_tape_free(t);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
