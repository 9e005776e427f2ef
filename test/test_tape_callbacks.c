/* SPDX-License-Identifier: MIT */
/* test_tape_callbacks.c - what a user's functions must not do to the tape that they are called
 * for, and what is found of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

/* y = 2 x, by a value that meddles with the tape it is recorded on. */
typedef struct meddling {
    wg_tape *t;
    int rewinds;
    wg_mark m;
} meddling;

static wg_status shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status value(wg_block *b) {
    const meddling *const k = b->params;
    b->out[0].value[0] = 2 * b->in[0].value[0];
    if (k->t != NULL && k->rewinds) return wg_tape_rewind(k->t, k->m);
    if (k->t != NULL) (void)wg_input(k->t, 5);
    return WG_OK;
}
static wg_status vjp(wg_block *b) {
    b->in[0].bar[0] += 2 * b->out[0].bar[0];
    return WG_OK;
}
static const wg_block_op twice = {.name = "twice", .shape = shape, .value = value, .vjp = vjp};

static void a_value_that_records_on_its_tape_is_found(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (int k = 0; k < 3; k++) {
        const double one = 1;
        const wg_mark m = wg_tape_mark(t);
        const wg_mat x = wg_mat_input(t, 1, 1, &one, 1);
        wg_mat y;
        meddling with = {k != 0 ? t : NULL, k == 2, m};
        const wg_status s = wg_apply(t, &twice, &with, sizeof with, 1, &x, 1, &y);
        assert_int_equal(s, k == 0 ? WG_OK : WG_EMODE);
        assert_int_equal(wg_tape_status(t), s);
        assert_true(k == 0 ||
                    strstr(wg_tape_message(t), "twice: its value has recorded") != NULL);
        if (k == 0) {
            assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_OK);
            assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == 2);
        }
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* y = 2 x, whose derivative resets the tape. */
static wg_status resetting(wg_block *b) {
    const meddling *const k = b->params;
    if (b->in[0].bar != NULL) b->in[0].bar[0] += 2 * b->out[0].bar[0];
    wg_tape_reset(k->t);
    return WG_OK;
}
static wg_status quiet(wg_block *b) {
    b->out[0].value[0] = 2 * b->in[0].value[0];
    return WG_OK;
}
static const wg_block_op resets = {
    .name = "resets", .shape = shape, .value = quiet, .vjp = resetting};
static const wg_block_op jumps = {
    .name = "jumps", .shape = shape, .value = quiet, .vjp = vjp, .jvp = resetting};

/* In a buffer a reset hands out the same memory again. */
static void a_tangent_that_resets_its_tape_is_found(void **state) {
    static char buffer[1 << 18];
    (void)state;
    for (int k = 0; k < 8; k++) {
        const wg_options in_buffer = {.buffer = buffer, .buffer_bytes = sizeof buffer};
        wg_tape *const t = wg_tape_new(k & 1 ? &in_buffer : NULL);
        const double numbers[2] = {1, 3};
        double z[2];
        wg_mat y;
        for (int i = 0; i < 3; i++) { /* so that there is something to be given back */
            const wg_mat a = wg_mat_input(t, 2, 1, numbers, 2);
            assert_int_equal(wg_reverse(t, wg_mat_at(wg_mat_mul(t, a, a), 0, 0)), WG_OK);
            wg_tape_reset(t);
        }
        assert_int_equal(wg_tape_forward(t, k & 2 ? 1 : 3), WG_OK);
        const wg_mat x = wg_mat_input(t, 1, 1, numbers, 1);
        assert_int_equal(wg_tangent_seed(t, wg_mat_at(x, 0, 0), 0, 1), WG_OK);
        const meddling with = {.t = t};
        const wg_block_op *const op = k & 4 ? &jumps : &resets;
        assert_int_equal(wg_apply(t, op, &with, sizeof with, 1, &x, 1, &y), WG_EMODE);
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 0), WG_OK);
        const wg_mat b = wg_mat_input(t, 2, 1, numbers, 2);
        assert_int_equal(wg_reverse(t, wg_mat_at(wg_mat_mul(t, b, b), 1, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, b, z, 2), WG_OK);
        assert_true(z[0] == 0 && z[1] == 6);
        wg_tape_free(t);
    }
}

/* What functions of an operation do with the tape in `victim`, which is not the one that they
 * are handed: then what stood there is written over. */
static wg_tape *victim;
static wg_mark start;
static enum { NOTHING, RESETS, REWINDS } how;
static void meddle(void) {
    static const double ones[4096] = {1};
    if (victim == NULL || how == NOTHING) return;
    if (how == RESETS) wg_tape_reset(victim);
    else if (wg_tape_rewind(victim, start) != WG_OK) return;
    (void)wg_mat_input(victim, 4096, 1, ones, 4096);
}
static wg_status meddling_shape(wg_block *b) {
    meddle();
    return shape(b);
}

static void a_shape_that_resets_its_tape_is_found(void **state) {
    static const wg_block_op op = {
        .name = "shapes", .shape = meddling_shape, .value = quiet, .vjp = vjp};
    (void)state;
    for (how = NOTHING; how <= REWINDS; how++) {
        wg_tape *const t = victim = wg_tape_new(NULL);
        const double three = 3;
        start = wg_tape_mark(t);
        const wg_mat x = wg_mat_input(t, 1, 1, &three, 1);
        wg_mat y;
        const wg_status s = wg_apply(t, &op, NULL, 0, 1, &x, 1, &y);
        victim = NULL;
        assert_int_equal(s, how == NOTHING ? WG_OK : WG_EMODE);
        if (how != NOTHING)
            assert_string_equal(wg_tape_message(t),
                                "shapes: its shape has reset or rewound the tape");
        wg_tape_free(t);
    }
}

/* y = 2 x once more, and y = x, in every way that a function or a pattern looks into. */
static wg_status expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    (void)b;
    meddle();
    y[0] = wg_let(t, wg_mul(2, x[0]));
    return WG_OK;
}
static wg_status moving_value(wg_block *b) {
    meddle();
    b->out[0].value[0] = b->in[0].value[0];
    return WG_OK;
}
static wg_status plain_value(wg_block *b) {
    b->out[0].value[0] = b->in[0].value[0];
    return WG_OK;
}
static wg_status moving_vjp(wg_block *b) {
    meddle();
    b->in[0].bar[0] += b->out[0].bar[0];
    return WG_OK;
}
static const wg_block_op meddlers[] = {{.name = "expands",
                                        .flags = WG_OP_EXPANDS,
                                        .shape = shape,
                                        .value = quiet,
                                        .vjp = vjp,
                                        .expand = expand},
                                       {.name = "moves",
                                        .flags = WG_OP_MOVES,
                                        .shape = shape,
                                        .value = moving_value,
                                        .vjp = moving_vjp},
                                       {.name = "moves back",
                                        .flags = WG_OP_MOVES,
                                        .shape = shape,
                                        .value = plain_value,
                                        .vjp = moving_vjp},
                                       {.name = "shapes",
                                        .flags = WG_OP_MOVES,
                                        .shape = meddling_shape,
                                        .value = plain_value,
                                        .vjp = moving_vjp}};
enum { MEDDLERS = sizeof meddlers / sizeof *meddlers };

/* Sines of an operation; it meddles once it is recorded. */
static wg_status through(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    const wg_block_op *const op = data;
    (void)n, (void)m;
    victim = NULL;
    const wg_mat in = wg_mat_gather(t, 1, 1, x);
    wg_mat out;
    start = wg_tape_mark(t);
    if (wg_apply(t, op, NULL, 0, 1, &in, 1, &out) != WG_OK) return wg_tape_status(t);
    y[0] = wg_let(t, wg_mul(x[0], wg_sin(wg_mat_at(out, 0, 0))));
    victim = t;
    return WG_OK;
}

static void an_operation_does_not_reset_what_is_made_of_it(void **state) {
    static char buffer[1 << 20];
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    const double at = 2;
    (void)state;
    for (int k = 0; k < 4 * MEDDLERS; k++) {
        const wg_block_op *const op = &meddlers[k / 4];
        const wg_options o = {.flags = WG_KEEP_CODE,
                              .buffer = k & 2 ? buffer : NULL,
                              .buffer_bytes = k & 2 ? sizeof buffer : 0};
        wg_tape *const t = wg_tape_new(&o);
        wg_function *f;
        how = k & 1 ? REWINDS : RESETS;
        assert_int_equal(
            wg_function_record(t, through, (void *)(uintptr_t)op, 1, &x, &at, 1, &y, &f),
            WG_EMODE);
        assert_null(f);
        assert_non_null(strstr(wg_tape_message(t), op->name));
        assert_non_null(strstr(wg_tape_message(t),
                               "has recorded on the tape, or would reset or rewind it"));
        /* of what is on a tape, which is left as it is */
        wg_tape_reset(t);
        victim = NULL;
        const wg_real in = wg_input(t, at);
        wg_real out;
        assert_int_equal(through(t, 1, &in, 1, &out, (void *)(uintptr_t)op), WG_OK);
        assert_int_equal(wg_function_extract(t, 1, &x, &in, 1, &y, &out, &f), WG_EMODE);
        assert_null(f);
        assert_non_null(strstr(wg_tape_message(t),
                               "has recorded on the tape, or would reset or rewind it"));
        victim = NULL;
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_reverse(t, out), WG_OK);
        const double factor = k < 4 ? 2 : 1;
        assert_true(fabs(wg_adjoint(t, in) -
                         (sin(factor * at) + factor * at * cos(factor * at))) < 1e-15 * 8);
        wg_tape_free(t);
    }
}

static void nor_what_is_found_of_its_pattern(void **state) {
    const double at = 2;
    (void)state;
    for (int k = 0; k < 2 * MEDDLERS; k++) {
        const wg_block_op *const op = &meddlers[k / 2];
        if (strcmp(op->name, "moves") != 0 && strcmp(op->name, "shapes") != 0) continue;
        wg_tape *const t = wg_tape_new(NULL);
        wg_sparsity *s = NULL;
        how = k & 1 ? REWINDS : RESETS;
        assert_int_equal(wg_jacobian_sparsity(t, through, (void *)(uintptr_t)op, 1, &at, 1,
                                              WG_ROW_MAJOR, &s),
                         WG_EMODE);
        assert_non_null(strstr(wg_tape_message(t),
                               "has recorded on the tape, or would reset or rewind it"));
        victim = NULL;
        wg_sparsity_free(s);
        wg_tape_free(t);
    }
}

/* next = 2 state, by hand. */
static int in_vjp; /* that meddles, and not the value */
static wg_status doubled(size_t step, size_t n, const double *state, size_t np,
                         const double *param, double *next, void *data) {
    (void)step, (void)n, (void)np, (void)param, (void)data;
    if (!in_vjp) meddle();
    next[0] = 2 * state[0];
    return WG_OK;
}
static wg_status doubled_vjp(size_t step, size_t n, const double *state, size_t np,
                             const double *param, const double *w, double *dstate,
                             double *dparam, void *data) {
    (void)step, (void)n, (void)state, (void)np, (void)param, (void)dparam, (void)data;
    if (in_vjp) meddle();
    dstate[0] = 2 * w[0];
    return WG_OK;
}

static void nor_the_states_of_a_loop(void **state) {
    static const char says[] = "a region has recorded on the tape, or would reset or rewind it";
    static const char records[] = "wg_checkpoint: its value has recorded on the tape";
    const wg_region region = {.value = doubled, .vjp = doubled_vjp};
    (void)state;
    for (int k = 0; k < 4; k++) {
        wg_tape *const t = wg_tape_new(NULL);
        const double at = 3;
        start = wg_tape_mark(t);
        const wg_mat x = wg_mat_input(t, 1, 1, &at, 1);
        wg_mat y;
        how = k & 1 ? REWINDS : RESETS;
        in_vjp = k / 2;
        victim = t;
        wg_status s =
            wg_checkpoint(t, NULL, 20, 1, &region, 5, x, wg_mat_constant(t, 0, 0, NULL, 1), &y);
        if (!in_vjp) {
            assert_int_equal(s, WG_EMODE);
            assert_non_null(strstr(wg_tape_message(t), how == RESETS ? records : says));
        } else {
            assert_int_equal(s, WG_OK);
            assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_EMODE);
            assert_non_null(strstr(wg_tape_message(t), says));
            /* the recording is there */
            how = NOTHING;
            assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_OK);
            assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == 1 << 20);
        }
        victim = NULL;
        wg_tape_free(t);
    }
}

/* ---- writers and readers ---- */

/* Whatever else uses the tape that a text is of: it is refused, and nothing is lost by it. */
typedef struct text {
    wg_tape *t; /* NULL: left alone */
    wg_mark start;
    char bytes[1 << 15];
    size_t used, at;
} text;

static void use(text *k) {
    static const double ones[1 << 12] = {1};
    const double v = 1;
    double h;
    if (k->t == NULL) return;
    const wg_real x = wg_input(k->t, 1), y = wg_let(k->t, wg_mul(x, wg_exp(x)));
    assert_true(isnan(y.value));
    for (int i = 0; i < 200; i++) (void)wg_mat_input(k->t, 1 << 12, 1, ones, 1 << 12);
    assert_int_equal(wg_reverse(k->t, y), WG_EMODE);
    assert_int_equal(wg_tape_hvp(k->t, y, 1, &x, &v, &h), WG_EMODE);
    assert_int_equal(wg_tape_replay(k->t, 0, NULL, NULL), WG_EMODE);
    assert_int_equal(wg_tape_pause(k->t), WG_EMODE);
    assert_int_equal(wg_label(k->t, x, "x"), WG_EMODE);
    assert_int_equal(wg_tape_rewind(k->t, k->start), WG_EMODE);
    wg_tape_reset(k->t);
}
static int take(void *ctx, const char *piece, size_t bytes) {
    text *const k = ctx;
    use(k);
    assert_true(k->used + bytes <= sizeof k->bytes);
    memcpy(k->bytes + k->used, piece, bytes);
    k->used += bytes;
    return 0;
}
static size_t give(void *ctx, void *data, size_t bytes) {
    text *const k = ctx;
    use(k);
    if (bytes > k->used - k->at) bytes = k->used - k->at;
    memcpy(data, k->bytes + k->at, bytes);
    k->at += bytes;
    return bytes;
}

static wg_status print(const wg_tape *t, wg_write *write, void *ctx) {
    return wg_print(t, (wg_real){2, {1, 0}}, write, ctx);
}

static void a_writer_does_not_use_the_tape_it_is_given_text_of(void **state) {
    static wg_status (*const texts[])(const wg_tape *, wg_write *,
                                      void *) = {wg_tape_dump, wg_tape_dot, print};
    static text plain, used;
    (void)state;
    for (size_t k = 0; k < 2 * sizeof texts / sizeof *texts; k++) {
        const wg_options o = {.flags = k & 1 ? WG_KEEP_CODE | WG_KEEP_PLACES : 0};
        wg_tape *const t = wg_tape_new(&o);
        memset(&plain, 0, sizeof plain);
        memset(&used, 0, sizeof used);
        used.t = t, used.start = wg_tape_mark(t);
        const wg_real x = wg_input(t, 1.5);
        wg_real y = x;
        for (int i = 0; i < 50; i++) y = wg_let(t, wg_add(wg_mul(x, wg_sin(y)), 0.25));
        assert_int_equal(texts[k / 2](t, take, &plain), WG_OK);
        assert_int_equal(texts[k / 2](t, take, &used), WG_OK);
        assert_int_equal(used.used, plain.used);
        assert_memory_equal(used.bytes, plain.bytes, plain.used);
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_true(wg_adjoint(t, x) != 0);
        wg_tape_free(t);
    }
}

static wg_status plainly(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[0];
    for (int i = 0; i < 300; i++) y[0] = wg_let(t, wg_add(wg_mul(x[0], wg_sin(y[0])), i));
    return WG_OK;
}
static void nor_does_a_reader(void **state) {
    static text file, again;
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    const double at = 2;
    (void)state;
    memset(&file, 0, sizeof file);
    memset(&again, 0, sizeof again);
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f, *g;
    assert_int_equal(wg_function_record(t, plainly, NULL, 1, &x, &at, 1, &y, &f), WG_OK);
    assert_int_equal(wg_function_write(f, take, &file), WG_OK);
    file.t = t, file.start = wg_tape_mark(t);
    assert_int_equal(wg_function_read(t, give, &file, NULL, 0, &g), WG_OK);
    assert_int_equal(wg_function_write(g, take, &again), WG_OK);
    assert_int_equal(again.used, file.used);
    assert_memory_equal(again.bytes, file.bytes, file.used);
    wg_function_free(f);
    wg_function_free(g);
    wg_tape_free(t);
}

/* ---- values and tangents that use the tape ---- */

static enum { RECORDS, REPLAYS, STARTS_OVER, APPLIES } does;
static wg_status using_value(wg_block *b) {
    static const double ones[100] = {1};
    const double one = 1;
    const wg_real x = {1, {1, 0}};
    b->out[0].value[0] = 2 * b->in[0].value[0];
    if (victim == NULL) return WG_OK;
    if (does == RECORDS)
        for (int i = 0; i < 5000; i++) (void)wg_let(victim, wg_sin(wg_input(victim, 1)));
    else if (does == REPLAYS) assert_int_equal(wg_tape_replay(victim, 1, &x, &one), WG_EMODE);
    else if (does == STARTS_OVER) wg_tape_reset(victim);
    else { /* one that takes more workspace */
        const wg_mat a = wg_mat_constant(victim, 10, 10, ones, 10);
        (void)wg_expm(victim, a);
    }
    ((double *)b->work)[0] = 1;
    return WG_OK;
}
static wg_status working_shape(wg_block *b) {
    b->work_bytes = 64;
    return shape(b);
}

static void a_value_does_not_use_its_tape_in_a_replay(void **state) {
    static const wg_block_op op = {
        .name = "uses", .shape = working_shape, .value = using_value, .vjp = vjp};
    (void)state;
    for (does = RECORDS; does <= STARTS_OVER; does++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
        const double at = 3, other = 5;
        const wg_real x = wg_input(t, at);
        const wg_mat in = wg_mat_gather(t, 1, 1, &x);
        wg_mat out;
        victim = NULL;
        assert_int_equal(wg_apply(t, &op, NULL, 0, 1, &in, 1, &out), WG_OK);
        const wg_real y = wg_let(t, wg_square(wg_mat_at(out, 0, 0)));
        victim = t;
        assert_int_equal(wg_tape_replay(t, 1, &x, &other), WG_EMODE);
        assert_non_null(strstr(wg_tape_message(t), "uses: its value has recorded on the tape"));
        victim = NULL;
        assert_int_equal(wg_reverse(t, y), WG_EMODE);
        wg_tape_reset(t);
        assert_int_equal(wg_reverse(t, wg_input(t, 1)), WG_OK);
        wg_tape_free(t);
    }
}

/* A tape in a buffer has what it needs to the byte: more workspace would be elsewhere. */
static void nor_does_its_workspace_move_while_it_is_recorded(void **state) {
    static const wg_block_op op = {
        .name = "uses", .shape = working_shape, .value = using_value, .vjp = vjp};
    static char buffer[1 << 20];
    const double at = 3;
    (void)state;
    wg_tape *const t =
        wg_tape_new(&(wg_options){.buffer = buffer, .buffer_bytes = sizeof buffer});
    const wg_mat x = wg_mat_input(t, 1, 1, &at, 1);
    wg_mat y;
    does = APPLIES;
    victim = t;
    const wg_status s = wg_apply(t, &op, NULL, 0, 1, &x, 1, &y);
    victim = NULL;
    assert_true(s == WG_OK || s == WG_EMODE);
    wg_tape_reset(t);
    assert_int_equal(wg_reverse(t, wg_input(t, 1)), WG_OK);
    wg_tape_free(t);
}

/* Constants that a value makes on its tape are no records: there may be so many that they stand
 * in another piece of memory than what the call itself has asked for. */
static wg_status making_constants(wg_block *b) {
    static const double ones[1 << 12] = {1};
    for (int i = 0; i < 100; i++) (void)wg_mat_constant(victim, 1 << 12, 1, ones, 1 << 12);
    b->out[0].value[0] = 2 * b->in[0].value[0];
    return WG_OK;
}
static void constants_that_a_value_makes_take_no_room_of_others(void **state) {
    static const wg_block_op op = {
        .name = "makes", .shape = shape, .value = making_constants, .vjp = vjp};
    static const double ones[1 << 12] = {1};
    (void)state;
    for (int recorded = 0; recorded < 2; recorded++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.reserve = 1 << 16});
        const double at = 3;
        wg_mat y;
        victim = t;
        for (int i = 0; i < 5; i++) {
            const wg_mat x =
                recorded ? wg_mat_input(t, 1, 1, &at, 1) : wg_mat_constant(t, 1, 1, &at, 1);
            assert_int_equal(wg_apply(t, &op, NULL, 0, 1, &x, 1, &y), WG_OK);
            const wg_mat a = wg_mat_input(t, 1 << 12, 1, ones, 1 << 12);
            const wg_real z = wg_let(t, wg_mul(wg_mat_sum(t, a), wg_mat_at(y, 0, 0)));
            assert_true(z.value == 6);
            assert_int_equal(wg_reverse(t, z), WG_OK);
            assert_true(wg_adjoint(t, wg_mat_at(a, 7, 0)) == 6);
        }
        victim = NULL;
        wg_tape_free(t);
    }
}

static int refused; /* calls of a tangent on its tape */
static wg_status using_jvp(wg_block *b) {
    for (int i = 0; victim != NULL && i < 5000; i++)
        refused += isnan(wg_let(victim, wg_sin(wg_input(victim, 1))).value);
    b->out[0].bar[0] = 2 * b->in[0].bar[0];
    return WG_OK;
}
static void a_tangent_does_not_record_on_its_tape(void **state) {
    static const wg_block_op op = {
        .name = "uses", .shape = shape, .value = quiet, .vjp = vjp, .jvp = using_jvp};
    (void)state;
    for (size_t width = 1; width <= 3; width++) {
        wg_tape *const t = wg_tape_new(NULL);
        const double at = 3;
        wg_mat y;
        assert_int_equal(wg_tape_forward(t, width), WG_OK);
        const wg_mat x = wg_mat_input(t, 1, 1, &at, 1);
        assert_int_equal(wg_tangent_seed(t, wg_mat_at(x, 0, 0), width - 1, 1), WG_OK);
        refused = 0;
        victim = t;
        assert_int_equal(wg_apply(t, &op, NULL, 0, 1, &x, 1, &y), WG_OK);
        victim = NULL;
        assert_int_equal(refused, 5000);
        assert_true(wg_tangent(t, wg_mat_at(y, 0, 0), width - 1) == 2);
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_records_on_its_tape_is_found),
        cmocka_unit_test(a_tangent_that_resets_its_tape_is_found),
        cmocka_unit_test(a_shape_that_resets_its_tape_is_found),
        cmocka_unit_test(an_operation_does_not_reset_what_is_made_of_it),
        cmocka_unit_test(nor_what_is_found_of_its_pattern),
        cmocka_unit_test(nor_the_states_of_a_loop),
        cmocka_unit_test(a_writer_does_not_use_the_tape_it_is_given_text_of),
        cmocka_unit_test(nor_does_a_reader),
        cmocka_unit_test(a_value_does_not_use_its_tape_in_a_replay),
        cmocka_unit_test(nor_does_its_workspace_move_while_it_is_recorded),
        cmocka_unit_test(constants_that_a_value_makes_take_no_room_of_others),
        cmocka_unit_test(a_tangent_does_not_record_on_its_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
