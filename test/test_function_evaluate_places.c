/* SPDX-License-Identifier: MIT */
/* test_function_evaluate_places.c - where the numbers of inputs and outputs stand: arrays of
 * structures, structures of arrays, one place for all points, none. On every instruction set
 * this machine has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "evaluate_case.h"

/* ---- layouts ---- */

/* Every input and output in an array of its own with these strides. */
static void check_layout(const wg_function *f, size_t points, ptrdiff_t point, ptrdiff_t entry,
                         size_t offset) {
    static double in_room[4][1 << 18], out_room[4][1 << 18];
    wg_points in[8];
    wg_results out[8];
    const size_t middle = 1 << 17;
    size_t at = 0, most = 0;
    for (size_t k = 0; k < f->outputs; k++)
        if (entries_of(&f->output[k]) > most) most = entries_of(&f->output[k]);
    /* all that could be written, and something more */
    const size_t reach =
        offset + points * (size_t)labs(point) + most * (size_t)labs(entry) + 64;
    assert_true(reach < middle);
    for (size_t k = 0; k < f->inputs; k++) {
        const size_t n = entries_of(&f->input[k]);
        in[k] = (wg_points){in_room[k] + middle + offset, point, entry};
        for (size_t e = 0; e < n; e++, at++)
            for (size_t p = 0; p < points; p++)
                if (p == 0 || !(f->input[k].flags & WG_SHARED))
                    in_room[k][(ptrdiff_t)(middle + offset) + (ptrdiff_t)p * point +
                               (ptrdiff_t)e * entry] = xs[p * f->n + at];
    }
    for (size_t k = 0; k < f->outputs; k++) {
        out[k] = (wg_results){out_room[k] + middle + offset, point, entry};
        for (size_t i = middle - reach; i < middle + reach; i++) out_room[k][i] = 1234.5;
    }
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, points, in, out, NULL, work, NULL), WG_OK);
    free(work);
    at = 0;
    for (size_t k = 0; k < f->outputs; k++) {
        const size_t n = entries_of(&f->output[k]);
        size_t written = 0, expected = 0;
        for (size_t e = 0; e < n; e++, at++)
            for (size_t p = 0; p < points; p++) {
                if (p != 0 && (f->output[k].flags & WG_SUMMED)) continue;
                expected++;
                const double got = out_room[k][(ptrdiff_t)(middle + offset) +
                                               (ptrdiff_t)p * point + (ptrdiff_t)e * entry];
                assert_true(same_bits(got, ys[p * f->m + at]));
            }
        for (size_t i = middle - reach; i < middle + reach; i++)
            written += out_room[k][i] != 1234.5;
        assert_true(written <= expected);
    }
}

static void layouts_are_all_the_same(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 0; seed < 30; seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            draw_function(&d, 900 + seed, 100, seed % 2 == 0);
            const wg_function *const f = d.h.f;
            use_machine(d.h.t, d.h.f, &m[i]);
            const size_t counts[] = {1, 5, 64, 203};
            for (size_t k = 0; k < 4; k++) {
                const ptrdiff_t points = (ptrdiff_t)counts[k];
                draw_points(f, counts[k], 0);
                assert_int_equal(evaluate(f, counts[k], xs, ys, 1, NULL), WG_OK);
                check_layout(f, counts[k], 1, points, 0);
                check_layout(f, counts[k], 1, points + 3, 1);
                check_layout(f, counts[k], 20, 1, 3);
                check_layout(f, counts[k], 25, 1, 0);
                check_layout(f, counts[k], -25, 1, 5);
                check_layout(f, counts[k], 50, 2, 0);
                check_layout(f, counts[k], 50, -2, 1);
                check_layout(f, counts[k], -1, points, 2);
            }
            hand_close(&d.h);
        }
}

/* ---- structures ---- */

/* Inputs of 3, 11, 1 and 2 entries, of which some are not used; outputs of all kinds: numbers,
 * what is done once, inputs, the same twice, products by the zero rule; more entries than are
 * written at a time. */
enum { FIELDS_IN = 4, FIELDS_OUT = 7, ROW = 400, MARGIN = 2 };
static const size_t field_in[FIELDS_IN] = {3, 11, 1, 2};
static const size_t field_out[FIELDS_OUT] = {3, 9, 1, 16, 1, 275, 2};

static void fields_open(struct hand *h, const struct machine *m) {
    uint32_t in[17], out[300];
    hand_open(h);
    const uint32_t s = hand_input(h, 1, WG_SHARED);
    uint32_t *to = in;
    for (size_t k = 0; k < FIELDS_IN; k++) {
        const uint32_t first = hand_input(h, field_in[k], 0);
        for (uint32_t e = 0; e < field_in[k]; e++) *to++ = first + e;
    }
    const uint32_t zero = wgi_graph_number(&h->g, 0),
                   once = wgi_graph_op(&h->g, op_named("exp"), &s);
    for (size_t k = 0; k < FIELDS_OUT; k++) {
        for (size_t e = 0; e < field_out[k]; e++) {
            const uint32_t a = in[(e + k) % 12], b = in[(3 * e + 5 * k) % 13];
            const uint32_t product = wgi_graph_times(&h->g, a, b);
            out[e] = k == 2                 ? once
                     : k == 3               ? zero
                     : k == 4               ? in[16]
                     : k == 1 && e % 3 == 0 ? zero
                     : e % 5 == 3           ? out[e - 1]
                     : e % 7 == 4           ? a
                                            : product;
        }
        hand_output(h, field_out[k], 0, out);
    }
    hand_finish(h);
    use_machine(h->t, h->f, m);
}

/* How the fields of a structure follow each other: in order or the other way round, next to
 * each other or not; structures ascending or descending, with and without a gap. */
struct structure {
    int backwards;
    size_t gap, size; /* between fields; of the structure, where it has to be larger */
    int descending, entries_descend;
    int missing; /* this output, or none: -1 */
};

static size_t place_of(const struct structure *s, size_t count, const size_t *field, size_t k) {
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (s->backwards ? i > k : i < k) at += field[i] + s->gap;
    return at;
}

static double *first_of(const struct structure *s, double *room, size_t points, size_t count,
                        const size_t *field, size_t k, ptrdiff_t *point, ptrdiff_t *entry) {
    const size_t size =
        place_of(&(struct structure){.gap = s->gap}, count, field, count) + s->size;
    assert_true(size <= ROW);
    *point = s->descending ? -(ptrdiff_t)size : (ptrdiff_t)size;
    *entry = s->entries_descend ? -1 : 1;
    return room + MARGIN + (s->descending ? (points - 1) * size : 0) +
           place_of(s, count, field, k) + (s->entries_descend ? field[k] - 1 : 0);
}

static void check_structure(const wg_function *f, size_t points, const struct structure *s) {
    static double in_room[150 * ROW], out_room[150 * ROW];
    wg_points x[1 + FIELDS_IN];
    wg_results y[FIELDS_OUT];
    assert_true(points * ROW + 2 * MARGIN <= sizeof in_room / sizeof *in_room);
    for (size_t i = 0; i < sizeof in_room / sizeof *in_room; i++)
        in_room[i] = NAN, out_room[i] = 1234.5;
    x[0] = (wg_points){xs, 0, 1};
    for (size_t k = 0, at = 1; k < FIELDS_IN; at += field_in[k++]) {
        ptrdiff_t point, entry;
        double *const to = first_of(s, in_room, points, FIELDS_IN, field_in, k, &point, &entry);
        x[1 + k] = (wg_points){to, point, entry};
        for (size_t e = 0; e < field_in[k]; e++)
            for (size_t p = 0; p < points; p++)
                to[(ptrdiff_t)p * point + (ptrdiff_t)e * entry] = xs[p * f->n + at + e];
    }
    for (size_t k = 0; k < FIELDS_OUT; k++) {
        y[k].data =
            first_of(s, out_room, points, FIELDS_OUT, field_out, k, &y[k].point, &y[k].entry);
        if ((int)k == s->missing) y[k].data = NULL;
    }
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, points, x, y, NULL, work, NULL), WG_OK);
    free(work);
    for (size_t k = 0, at = 0; k < FIELDS_OUT; at += field_out[k++])
        for (size_t e = 0; y[k].data != NULL && e < field_out[k]; e++)
            for (size_t p = 0; p < points; p++) {
                double *const got =
                    y[k].data + (ptrdiff_t)p * y[k].point + (ptrdiff_t)e * y[k].entry;
                assert_true(same_bits(*got, zs[(at + e) * points + p]));
                *got = 1234.5;
            }
    for (size_t i = 0; i < sizeof out_room / sizeof *out_room; i++)
        assert_true(out_room[i] == 1234.5);
}

/* Every output in an array of its own, entry after entry, into zs. */
static void evaluate_arrays(const wg_function *f, size_t points) {
    static double columns[20 * 150];
    wg_points x[1 + FIELDS_IN];
    wg_results y[FIELDS_OUT];
    const ptrdiff_t n = (ptrdiff_t)points;
    x[0] = (wg_points){xs, 0, 1};
    for (size_t i = 1; i < f->n; i++)
        for (size_t p = 0; p < points; p++) columns[i * points + p] = xs[p * f->n + i];
    for (size_t k = 0, at = 1; k < FIELDS_IN; at += field_in[k++])
        x[1 + k] = (wg_points){columns + at * points, 1, n};
    for (size_t k = 0, at = 0; k < FIELDS_OUT; at += field_out[k++])
        y[k] = (wg_results){zs + at * points, 1, n};
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, points, x, y, NULL, work, NULL), WG_OK);
    free(work);
}

static void fields_of_structures_are_as_in_arrays_of_their_own(void **state) {
    (void)state;
    static const struct structure all[] = {
        {0, 0, 0, 0, 0, -1}, {0, 0, 5, 0, 0, -1}, {0, 1, 0, 0, 0, -1}, {1, 0, 3, 0, 0, -1},
        {0, 0, 0, 1, 0, -1}, {0, 0, 1, 1, 1, -1}, {1, 2, 0, 0, 1, -1}, {0, 0, 2, 0, 0, 0},
        {0, 0, 0, 0, 0, 3},  {0, 0, 0, 1, 0, 6},
    };
    struct machine m[MACHINES];
    for (size_t i = 0, machines = machines_here(m); i < machines; i++) {
        struct hand h;
        fields_open(&h, &m[i]);
        const size_t lanes = h.f->bytecode->lanes;
        const size_t counts[] = {1, 2, 3, 4, 5, lanes - 1, lanes, lanes + 1, 2 * lanes + 7};
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (int wild = 0; wild < 2; wild++) {
                draw_points(h.f, counts[k], wild);
                evaluate_arrays(h.f, counts[k]);
                for (size_t s = 0; s < sizeof all / sizeof *all; s++)
                    check_structure(h.f, counts[k], &all[s]);
            }
        hand_close(&h);
    }
}

/* The second argument begins where the first one ends at the first point, but goes on
 * differently: from point to point, from entry to entry. */
static void neighbours_that_go_on_differently_are_apart(void **state) {
    (void)state;
    enum { FEW = 150, STEP = 7 };
    static const ptrdiff_t point[] = {2 * STEP, STEP}, entry[] = {1, 2};
    static double in[2 * STEP * FEW], results[2 * STEP * FEW];
    struct machine m[MACHINES];
    for (size_t i = 0, machines = machines_here(m); i < machines; i++) {
        struct hand h;
        hand_open(&h);
        const uint32_t a = hand_input(&h, 3, 0), b = hand_input(&h, 2, 0);
        const uint32_t out[] = {wgi_graph_times(&h.g, a, b), wgi_graph_times(&h.g, a + 1, b),
                                wgi_graph_times(&h.g, a + 2, b + 1)};
        hand_output(&h, 3, 0, out);
        hand_output(&h, 2, 0, (uint32_t[]){b, b + 1});
        hand_finish(&h);
        use_machine(h.t, h.f, &m[i]);
        void *const work = malloc(wg_function_work(h.f, NULL));
        assert_non_null(work);
        for (size_t k = 0; k < 2; k++) {
            const wg_points x[] = {{in, STEP, 1}, {in + 3, point[k], entry[k]}};
            const wg_results y[] = {{results, STEP, 1}, {results + 3, point[k], entry[k]}};
            for (size_t q = 0; q < sizeof in / sizeof *in; q++) in[q] = uniform(-1, 1);
            assert_int_equal(wg_function_evaluate(h.f, FEW, x, y, NULL, work, NULL), WG_OK);
            for (ptrdiff_t p = 0; p < FEW; p++) {
                const ptrdiff_t first = 3 + point[k] * p, second = first + entry[k];
                assert_true(results[first] == in[first] && results[second] == in[second]);
                for (ptrdiff_t e = 0; e < 3; e++)
                    assert_true(results[STEP * p + e] ==
                                in[STEP * p + e] * in[e < 2 ? first : second]);
            }
        }
        free(work);
        hand_close(&h);
    }
}

/* A place that all points have in common is the last one's, whichever thread has that. */
static wg_status two_of_one(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(x[0], 2));
    y[1] = wg_let(t, wg_sin(x[1]));
    return WG_OK;
}
static void one_place_for_all_points_has_the_last_one(void **state) {
    (void)state;
    enum { POINTS = 40001, TIMES = 8 };
    const wg_argument in[] = {{"x", 1, 1, 0}, {"a", 1, 1, WG_SHARED}},
                      out[] = {{"y", 1, 1, 0}, {"s", 1, 1, 0}};
    wg_tape *const t = wg_tape_new(&opt);
    wg_function *f;
    const double at[2] = {1, 2};
    assert_int_equal(wg_function_record(t, two_of_one, NULL, 2, in, at, 2, out, &f), WG_OK);
    double *const x = malloc(POINTS * sizeof *x);
    assert_non_null(x);
    for (size_t p = 0; p < POINTS; p++) x[p] = (double)p;
    struct machine m[MACHINES];
    for (size_t k = 0, n = machines_here(m); k < n; k++) {
        use_machine(t, f, &m[k]);
        for (size_t threads = 1; threads <= 3; threads++) {
            void *const work = malloc(wg_function_work(f, pool_of(threads)));
            assert_non_null(work);
            for (int i = 0; i < TIMES; i++) {
                const size_t points = i == 0 ? 1 : POINTS - (size_t)i;
                double y[3] = {0, 0, 7};
                assert_int_equal(wg_function_evaluate(f, points,
                                                      (wg_points[]){{x, 1, 1}, {at + 1, 0, 1}},
                                                      (wg_results[]){{y, 0, 1}, {y + 1, 0, 1}},
                                                      pool_of(threads), work, NULL),
                                 WG_OK);
                assert_true(y[0] == 2 * x[points - 1] && y[2] == 7);
                assert_true(fabs(y[1] - sin(2)) <= TOL_VECTOR_ULP * DBL_EPSILON);
            }
            free(work);
        }
    }
    free(x);
    wg_function_free(f);
    wg_tape_free(t);
}

static void missing_data_is_zero_and_missing_results_are_left_out(void **state) {
    (void)state;
    struct drawn d;
    for (uint64_t seed = 0; seed < 40; seed++) {
        draw_function(&d, 1300 + seed, 100, seed % 2 == 0);
        const wg_function *const f = d.h.f;
        memset(xs, 0, sizeof xs);
        assert_int_equal(evaluate(f, 100, xs, ys, 1, NULL), WG_OK);
        wg_points in[8];
        memset(in, 0, sizeof in);
        void *const work = malloc(wg_function_work(f, NULL));
        size_t at = 0;
        for (size_t only = 0; only < f->outputs; only++) {
            wg_results out[8];
            memset(out, 0, sizeof out);
            out[only] = (wg_results){zs, (ptrdiff_t)f->m, 1};
            assert_int_equal(wg_function_evaluate(f, 100, in, out, NULL, work, NULL), WG_OK);
            for (size_t e = 0; e < entries_of(&f->output[only]); e++, at++)
                for (size_t p = 0; p < (f->output[only].flags & WG_SUMMED ? 1 : 100); p++)
                    assert_true(same_bits(zs[p * f->m + e], ys[p * f->m + at]));
        }
        free(work);
        hand_close(&d.h);
    }
}

static void what_is_missing_is_refused(void **state) {
    (void)state;
    struct drawn d;
    draw_function(&d, 3, 50, 1);
    wg_points in[8];
    wg_results out[8];
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    void *const work = malloc(wg_function_work(d.h.f, NULL));
    assert_int_equal(wg_function_evaluate(NULL, 1, in, out, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, NULL, out, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, in, NULL, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, in, out, NULL, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, in, out, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_work(NULL, NULL), 0);
    assert_true(wg_function_work(d.h.f, pool_of(1)) == wg_function_work(d.h.f, NULL));
    assert_true(wg_function_work(d.h.f, pool_of(2)) > wg_function_work(d.h.f, NULL));
    free(work);
    hand_close(&d.h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_all_the_same),
        cmocka_unit_test(fields_of_structures_are_as_in_arrays_of_their_own),
        cmocka_unit_test(neighbours_that_go_on_differently_are_apart),
        cmocka_unit_test(one_place_for_all_points_has_the_last_one),
        cmocka_unit_test(missing_data_is_zero_and_missing_results_are_left_out),
        cmocka_unit_test(what_is_missing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
