/* SPDX-License-Identifier: MIT */
/* test_ops_convolution.c - convolutions with groups, transposed ones, pooling: against plain
 * loops in every mode, derivatives of both orders against differences, as parts of functions;
 * ties, NaN, padding, refusals. Convolutions without groups are in test_ops_products.c and
 * test_ops_products_loops.c. */
#include "derived_case.h"
#include "matrix_case.h"
#include "written_out.h"

/* ---- against loops ---- */

typedef struct sizes {
    wg_conv conv;
    int back, bias;
} sizes;

static size_t at_least_1(size_t n) { return n != 0 ? n : 1; }
static size_t length(const wg_conv *s, int d) {
    const size_t kernel = d == 0 ? s->kernel_height : s->kernel_width;
    const size_t image = d == 0 ? s->height : s->width;
    return (image + 2 * s->pad[d] - (kernel - 1) * at_least_1(s->dilation[d]) - 1) /
               at_least_1(s->stride[d]) +
           1;
}

static void convolve(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                     void *data) {
    const sizes *const p = data;
    (void)c;
    out[0] = (p->back ? wg_conv2d_transposed : wg_conv2d)(t, &p->conv, in[0], in[1],
                                                          p->bias ? &in[2] : NULL);
}

/* Every product of a pixel of the image, an entry of a filter and a pixel of the result is
 * added where it belongs. */
static void convolve_by_loops(wg_tape *t, const struct matrix_case *unused, const wg_mat *in,
                              wg_mat *out, void *data) {
    const sizes *const p = data;
    const wg_conv *const s = &p->conv;
    const size_t groups = at_least_1(s->groups), kernel = s->kernel_height * s->kernel_width;
    const size_t own = in[1].rows, each = s->filters / groups, channels = own * groups;
    const size_t high = length(s, 0), wide = length(s, 1);
    const size_t rows = p->back ? channels : s->filters,
                 cols = (p->back ? s->height * s->width : high * wide) * s->batch;
    wg_real *const y = calloc(rows * cols, sizeof *y);
    (void)unused;
    assert_non_null(y);
    for (size_t e = 0; e < rows * cols; e++)
        y[e] = p->bias ? wg_mat_at(in[2], e % rows, 0) : wg_constant(0);
    for (size_t i = 0; i < high * wide * s->batch; i++)
        for (size_t e = 0; e < kernel; e++) {
            const size_t h = i % high * at_least_1(s->stride[0]) +
                             e % s->kernel_height * at_least_1(s->dilation[0]),
                         w = i / high % wide * at_least_1(s->stride[1]) +
                             e / s->kernel_height * at_least_1(s->dilation[1]);
            if (h < s->pad[0] || w < s->pad[1] || h - s->pad[0] >= s->height ||
                w - s->pad[1] >= s->width)
                continue;
            const size_t pixel =
                h - s->pad[0] + s->height * (w - s->pad[1] + s->width * (i / high / wide));
            for (size_t f = 0; f < s->filters; f++)
                for (size_t c = 0; c < own; c++) {
                    const size_t channel = f / each * own + c;
                    const wg_real filter = wg_mat_at(in[1], c, e + f * kernel);
                    const wg_real x =
                        p->back ? wg_mat_at(in[0], f, i) : wg_mat_at(in[0], channel, pixel);
                    wg_real *const to = y + (p->back ? channel + pixel * rows : f + i * rows);
                    *to = wg_let(t, wg_add(*to, wg_mul(filter, x)));
                }
        }
    out[0] = wg_mat_gather(t, rows, cols, y);
    free(y);
}

static void try(wg_conv s, size_t own) {
    const size_t channels = own * at_least_1(s.groups);
    const size_t images = s.height * s.width * s.batch,
                 results = length(&s, 0) * length(&s, 1) * s.batch;
    for (int back = 0; back < 2; back++)
        for (int bias = 0; bias < 2; bias++) {
            sizes p = {s, back, bias};
            const struct matrix_shape in[3] = {
                {back ? s.filters : channels, back ? results : images, 0},
                {own, s.kernel_height * s.kernel_width * s.filters, 0},
                {back ? channels : s.filters, 1, 0}};
            matrix_case_compare(back ? "conv2d_transposed" : "conv2d", bias ? 3 : 2, in, 1,
                                convolve, convolve_by_loops, &p);
        }
}

static void convolutions_and_their_transposes_equal_loops(void **state) {
    (void)state;
    static const wg_conv all[] = {
        {2, 5, 4, 4, 2, 3, {1, 1}, {1, 1}, {0, 0}, 2},
        {1, 6, 7, 6, 3, 2, {2, 1}, {1, 2}, {1, 2}, 3},
        {2, 4, 5, 3, 2, 2, {2, 3}, {2, 1}, {1, 1}, 1},
        {1, 5, 5, 3, 3, 3, {1, 1}, {0, 0}, {1, 1}, 3}, /* one channel each */
        {1, 3, 3, 1, 1, 1, {0, 0}, {0, 0}, {2, 2}, 0},
        {2, 7, 1, 2, 3, 1, {3, 1}, {1, 1}, {0, 0}, 1}, /* pixels that no patch has */
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t own = 1; own <= 2; own++) try(all[k], own);
}

/* Beyond a strip of rows, a vector and a block of pixels. */
static void many_filters_and_channels_equal_loops(void **state) {
    (void)state;
    try((wg_conv){1, 9, 9, 19, 2, 1, {1, 1}, {1, 1}, {1, 0}, 1}, 3);
    try((wg_conv){1, 3, 4, 3, 2, 2, {1, 1}, {1, 1}, {0, 0}, 1}, 18);
    for (size_t f = 1; f <= 17; f += 4)
        try((wg_conv){1, 4, 3, f, 2, 1, {1, 1}, {1, 1}, {1, 0}, 1}, 2);
}

/* Without padding images are read where they stand, with gaps they are copied: slabs of both,
 * which are more than one from 2^15 numbers on. */
static void large_images_equal_small_ones(void **state) {
    (void)state;
    enum { HIGH = 150, WIDE = 120, BATCH = 3, CHANNELS = 2, FILTERS = 3 };
    static double x[CHANNELS * HIGH * WIDE * BATCH], w[CHANNELS * 4 * FILTERS];
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (size_t e = 0; e < sizeof x / sizeof *x; e++) x[e] = walk_number(&seed);
    for (size_t e = 0; e < sizeof w / sizeof *w; e++) w[e] = walk_number(&seed);
    for (size_t pad = 0; pad < 2; pad++) {
        wg_conv s = {BATCH, HIGH, WIDE, FILTERS, 2, 2, {1, 1}, {1, 1}, {pad, pad}, 1};
        wg_tape_reset(t);
        const wg_mat a = wg_mat_input(t, CHANNELS, HIGH * WIDE * BATCH, x, CHANNELS),
                     b = wg_mat_input(t, CHANNELS, 4 * FILTERS, w, CHANNELS);
        const wg_mat y = wg_conv2d(t, &s, a, b, NULL);
        s.batch = 1;
        wg_mat one[BATCH];
        for (size_t k = 0; k < BATCH; k++)
            one[k] = wg_conv2d(
                t, &s, wg_mat_block(a, 0, k * HIGH * WIDE, CHANNELS, HIGH * WIDE), b, NULL);
        const wg_mat many = wg_concat_cols(t, BATCH, one);
        derived_close("images", y, many, 64 * DBL_EPSILON);
        /* and so are the gradients */
        double g[2][CHANNELS * 4 * FILTERS];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(wg_mat_reverse(t, k == 0 ? y : many, NULL, FILTERS), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, b, g[k], CHANNELS), WG_OK);
        }
        for (size_t e = 0; e < CHANNELS * 4 * FILTERS; e++)
            assert_true(fabs(g[0][e] - g[1][e]) <= HIGH * WIDE * BATCH * DBL_EPSILON * 4);
    }
    wg_tape_free(t);
}

/* ---- derivatives of both orders ---- */

static const wg_conv grouped = {1, 3, 4, 2, 2, 2, {1, 2}, {1, 1}, {1, 0}, 2};
static const wg_pool window = {2, 4, 3, 2, 2, {1, 2}, {1, 0}};
static const wg_pool apart = {1, 4, 6, 2, 3, {0, 0}, {0, 0}};

static void of_conv(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_conv2d(t, &grouped, in[0], in[1], &in[2]));
}
static void of_transposed(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_conv2d_transposed(t, &grouped, in[0], in[1], &in[2]));
}
static void of_largest(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_max_pool2d(t, &apart, wg_mat_mul(t, in[0], in[0])));
}
static void of_overlapping(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_max_pool2d(t, &window, in[0]));
}
static void of_average(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_average_pool2d(t, &window, in[0]));
}

static const derived_case cases[] = {
    {"conv2d", of_conv, {4, 2, 2}, {12, 8, 1}, {DERIVED_ANY, DERIVED_ANY, DERIVED_ANY}},
    {"conv2d_transposed", of_transposed, {2, 2, 4}, {8, 8, 1}, {DERIVED_ANY, DERIVED_ANY}},
    {"max_pool2d", of_largest, {1}, {24}, {DERIVED_ANY}},
    {"max_pool2d, overlapping", of_overlapping, {2}, {24}, {DERIVED_ANY}},
    {"average_pool2d", of_average, {2}, {24}, {DERIVED_ANY}},
};

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) derived_check(&cases[i]);
}

/* ---- pooling ---- */

static wg_mat matrix_of(wg_tape *t, size_t rows, size_t cols, const double *x) {
    return wg_mat_input(t, rows, cols, x, rows);
}

static void the_largest_and_the_average_are_those_of_the_window(void **state) {
    (void)state;
    /* two channels of an image of 2 by 3 */
    static const double x[] = {1, -1, 5, -5, 2, -2, 2, -2, 5, -5, 0, 4};
    static const wg_pool s = {1, 2, 3, 2, 2, {1, 1}, {0, 0}},
                         wide = {1, 2, 3, 2, 2, {2, 2}, {1, 1}};
    static const double want[] = {5, -1, 5, 4}, average[] = {2.5, -2.5, 2.25, -1.25};
    static const double corner[] = {1, -1, 5, -5, 5, -2, 2, 4};
    double y[8], g[12];
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = matrix_of(t, 2, 6, x);
    const wg_mat largest = wg_max_pool2d(t, &s, a);
    assert_int_equal(wg_mat_value(t, largest, y, 2), WG_OK);
    for (size_t e = 0; e < 4; e++) assert_true(y[e] == want[e]);
    assert_int_equal(wg_mat_value(t, wg_average_pool2d(t, &s, a), y, 2), WG_OK);
    for (size_t e = 0; e < 4; e++) assert_true(y[e] == average[e]);
    const wg_mat padded = wg_max_pool2d(t, &wide, a);
    assert_int_equal(wg_mat_value(t, padded, y, 2), WG_OK);
    for (size_t e = 0; e < 8; e++) assert_true(y[e] == corner[e]);
    /* of two pixels with 5 in the first channel the first has the adjoint, in each window
     * its own */
    assert_int_equal(wg_mat_reverse(t, largest, NULL, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    static const double first[] = {0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1};
    for (size_t e = 0; e < 12; e++) assert_true(g[e] == first[e]);
    wg_tape_free(t);
}

static void of_equal_pixels_the_first_has_the_adjoint(void **state) {
    (void)state;
    static const double x[] = {3, 3, 3, 3, 3, 3};
    static const wg_pool s = {1, 3, 2, 3, 2, {1, 1}, {0, 0}};
    double g[6];
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = matrix_of(t, 1, 6, x);
    assert_int_equal(wg_mat_reverse(t, wg_max_pool2d(t, &s, a), NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 1), WG_OK);
    for (size_t e = 0; e < 6; e++) assert_true(g[e] == (e == 0));
    wg_tape_free(t);
}

static void a_nan_is_the_largest_of_its_window(void **state) {
    (void)state;
    static const wg_pool s = {1, 2, 2, 2, 1, {1, 1}, {0, 0}};
    double x[4] = {1, 2, 3, 4}, y[2];
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t e = 0; e < 4; e++) {
        double g[4];
        wg_tape_reset(t);
        x[e] = NAN;
        const wg_mat a = matrix_of(t, 1, 4, x), r = wg_max_pool2d(t, &s, a);
        x[e] = (double)(e + 1);
        assert_int_equal(wg_mat_value(t, r, y, 1), WG_OK);
        for (size_t k = 0; k < 2; k++)
            assert_true(e / 2 == k ? isnan(y[k]) : y[k] == (double)(2 * k + 2));
        assert_int_equal(wg_mat_reverse(t, r, NULL, 1), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 1), WG_OK);
        assert_true(g[e] == 1);
    }
    wg_tape_free(t);
}

static void what_does_not_fit_is_refused_by_name(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 1;
    const wg_mat x = derived_random(t, 4, 6, 1, &seed), w = derived_random(t, 2, 6, 1, &seed);
    wg_conv s = {1, 2, 3, 3, 2, 1, {1, 1}, {1, 1}, {0, 0}, 2};
    MATRIX_REFUSED(t, WG_EARG, "divide among the groups", wg_conv2d(t, &s, x, w, NULL));
    s.filters = 6, s.kernel_height = 1, s.groups = 3;
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_conv2d of 4x6, 2x6", wg_conv2d(t, &s, x, w, NULL));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_conv2d_transposed of 4x6, 2x6",
                   wg_conv2d_transposed(t, &s, x, w, NULL));
    s.height = 7;
    MATRIX_REFUSED(t, WG_ESHAPE, "other columns", wg_conv2d_transposed(t, &s, x, w, NULL));
    wg_pool p = {1, 2, 3, 2, 2, {1, 1}, {2, 0}};
    MATRIX_REFUSED(t, WG_EARG, "padding as wide", wg_max_pool2d(t, &p, x));
    p.pad[0] = 0, p.width = 4;
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_average_pool2d of 4x6", wg_average_pool2d(t, &p, x));
    p.kernel_width = 0;
    MATRIX_REFUSED(t, WG_EARG, "no size", wg_average_pool2d(t, &p, x));
    /* images of no pixels have results of none */
    p = (wg_pool){SIZE_MAX, 0, 3, 2, 2, {1, 1}, {1, 1}};
    const wg_mat none = wg_mat_input(t, 4, 0, NULL, 4);
    assert_int_equal(wg_max_pool2d(t, &p, none).cols, 0);
    s = (wg_conv){SIZE_MAX, 0, 3, 6, 1, 1, {1, 1}, {1, 1}, {0, 0}, 2};
    assert_int_equal(wg_conv2d(t, &s, none, w, NULL).cols, 0);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* ---- in functions ---- */

static void write_conv(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                       const void *data) {
    (void)data;
    written_out_put(r, wg_conv2d(t, &grouped, in[0], in[1], &in[2]));
}
static void write_transposed(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                             const void *data) {
    (void)data;
    written_out_put(r, wg_conv2d_transposed(t, &grouped, in[0], in[1], &in[2]));
}
static void write_pools(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                        const void *data) {
    (void)data;
    written_out_put(r, wg_max_pool2d(t, &window, in[0]));
    written_out_put(r, wg_average_pool2d(t, &window, in[0]));
}

static void functions_of_them_are_the_same(void **state) {
    (void)state;
    const struct written_out all[] = {
        {.name = "conv2d",
         .record = write_conv,
         .in = {{4, 12, PLAIN}, {2, 8, PLAIN}, {2, 1, PLAIN}}},
        {.name = "conv2d_transposed",
         .record = write_transposed,
         .in = {{2, 8, PLAIN}, {2, 8, PLAIN}, {4, 1, PLAIN}}},
        {.name = "pools", .record = write_pools, .in = {{2, 24, PLAIN}}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) written_out_check(&all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_and_their_transposes_equal_loops),
        cmocka_unit_test(many_filters_and_channels_equal_loops),
        cmocka_unit_test(large_images_equal_small_ones),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(the_largest_and_the_average_are_those_of_the_window),
        cmocka_unit_test(of_equal_pixels_the_first_has_the_adjoint),
        cmocka_unit_test(a_nan_is_the_largest_of_its_window),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test_setup_teardown(functions_of_them_are_the_same, written_out_open,
                                        written_out_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
