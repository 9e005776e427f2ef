/* SPDX-License-Identifier: MIT */
/* calls_sweeps.c - rows: sweeps, adjoints, tangents, second order and replays of a tape;
 * dumps. */
#include "calls.h"

ROW(wg_reverse) {
    TAPE(t);
    REAL(y);
    GIVES_STATUS(wg_reverse(t, y));
}
ROW(wg_reverse_seeds) {
    TAPE(t);
    DIM(m);
    REAL_ARRAY(y, m);
    DOUBLES(w, m);
    GIVES_STATUS(wg_reverse_seeds(t, m, y, w));
}
ROW(wg_reverse_lanes) {
    TAPE(t);
    const size_t k = one_in(20) ? below(80) : 1 + below(9), m = one_in(9) ? draw_dim("m") : 2;
    named("k", "%zu", k);
    named("m", "%zu", m);
    REAL_ARRAY(y, m);
    DOUBLES(w, m * k);
    GIVES_STATUS(wg_reverse_lanes(t, k, m, y, w));
}
ROW(wg_reverse_check) {
    TAPE(t);
    const size_t k = one_in(20) ? below(80) : 1 + below(9), m = one_in(9) ? draw_dim("m") : 2;
    named("k", "%zu", k);
    named("m", "%zu", m);
    REAL_ARRAY(y, m);
    GIVES_STATUS(wg_reverse_check(t, k, m, y));
}
ROW(wg_adjoints_clear) {
    TAPE(t);
    GIVES_STATUS(wg_adjoints_clear(t));
}
ROW(wg_adjoint_seed) {
    TAPE(t);
    REAL(y);
    NUMBER(w);
    GIVES_STATUS(wg_adjoint_seed(t, y, w));
}
ROW(wg_sweep) {
    TAPE(t);
    wg_mark high = draw_mark("high");
    if (one_in(2)) high = wg_tape_mark(t);
    MARK(low);
    GIVES_STATUS(wg_sweep(t, high, low));
}
ROW(wg_adjoint) {
    TAPE(t);
    REAL(x);
    GIVES_NUMBER(wg_adjoint(t, x));
}
ROW(wg_adjoint_lane) {
    TAPE(t);
    REAL(x);
    SIZE(lane);
    GIVES_NUMBER(wg_adjoint_lane(t, x, lane));
}
ROW(wg_adjoints_lanes) {
    TAPE(t);
    DIM(n);
    REAL_ARRAY(x, n);
    const size_t k = one_in(20) ? below(80) : below(4), ld = one_in(9) ? below(3) : n;
    named("k", "%zu", k);
    named("ld", "%zu", ld);
    RESULTS(g, k * (n > ld ? n : ld));
    GIVES_STATUS(wg_adjoints_lanes(t, n, x, k, g, ld));
}
ROW(wg_adjoints) {
    TAPE(t);
    DIM(n);
    REAL_ARRAY(x, n);
    RESULTS(g, n);
    GIVES_STATUS(wg_adjoints(t, n, x, g));
}
ROW(wg_adjoints_add) {
    TAPE(t);
    DIM(n);
    REAL_ARRAY(x, n);
    RESULTS(g, n);
    GIVES_STATUS(wg_adjoints_add(t, n, x, g));
}
ROW(wg_tangent_seed) {
    TAPE(t);
    REAL(x);
    SIZE(lane);
    NUMBER(v);
    GIVES_STATUS(wg_tangent_seed(t, x, lane, v));
}
ROW(wg_tangent) {
    TAPE(t);
    REAL(x);
    SIZE(lane);
    GIVES_NUMBER(wg_tangent(t, x, lane));
}
/* A recording of its own, forward: the others rarely come upon one. */
ROW(a_forward_recording) {
    TAPE(t);
    if (t == NULL) return;
    say("", "a forward recording of two inputs, seeded");
    wg_tape_reset(t);
    (void)status(wg_tape_forward(t, 1 + below(3)));
    const wg_real x = wg_input(t, number()), y = wg_input(t, number());
    (void)status(wg_tangent_seed(t, x, 0, 1));
    const wg_mat m = wg_mat_input(t, 2, 2, (double[]){2, 1, 0.5, 3}, 2);
    (void)status(wg_mat_tangent_seed(t, m, 0, (double[]){1, 0, 0, 1}, 2));
    keep_real(x), keep_real(y), keep_mat(m);
}

/* ---- second order, replays ---- */

ROW(wg_tape_hvp) {
    CODE_TAPE(t);
    REAL(y);
    DIM(n);
    REAL_ARRAY(x, n);
    DOUBLES(v, n);
    RESULTS(hv, n);
    GIVES_STATUS(wg_tape_hvp(t, y, n, x, v, hv));
}
ROW(wg_tape_hvp_check) {
    CODE_TAPE(t);
    REAL(y);
    DIM(n);
    REAL_ARRAY(x, n);
    GIVES_STATUS(wg_tape_hvp_check(t, y, n, x));
}
ROW(wg_tape_hessian) {
    CODE_TAPE(t);
    REAL(y);
    DIM(n);
    REAL_ARRAY(x, n);
    const size_t ld = one_in(9) ? below(3) : n;
    named("ld", "%zu", ld);
    RESULTS(h, n * (n > ld ? n : ld));
    GIVES_STATUS(wg_tape_hessian(t, y, n, x, h, ld));
}
ROW(wg_tape_verify) {
    CODE_TAPE(t);
    GIVES_STATUS(wg_tape_verify(t));
}
/* The inputs of a tape are its alone to know: a short recording, at other numbers. */
ROW(wg_tape_replay) {
    CODE_TAPE(t);
    wg_real x[3];
    double a[3];
    size_t n = 3;
    if (t != NULL && !one_in(4)) {
        wg_tape_reset(t);
        aside("a recording of three inputs");
        for (size_t i = 0; i < 3; i++) a[i] = number();
        (void)wg_inputs(t, 3, a, x);
        const wg_real y = wg_let(t, wg_mul(x[0], wg_exp(x[1])));
        if (one_in(3)) (void)wg_lt(t, x[0], x[1]);
        if (one_in(3)) keep_real(wg_lookup(t, x[2], 3, x));
        if (one_in(2)) keep_mat(wg_inverse(t, wg_mat_gather(t, 1, 1, x)));
        keep_real(y), keep_real(x[0]);
    } else {
        for (size_t i = 0; i < 3; i++) x[i] = draw_real("x");
        n = draw_dim("n") % 4;
    }
    const wg_real *const at = one_in(60) ? NULL : x;
    DOUBLES(b, n);
    GIVES_STATUS(wg_tape_replay(t, n, at, b));
}
ROW(wg_tape_value) {
    CODE_TAPE(t);
    REAL(x);
    GIVES_NUMBER(wg_tape_value(t, x));
}

/* ---- looking into the tape ---- */

#define WRITES                                                                                 \
    int left = one_in(3) ? (int)below(5) : 1 << 30;                                            \
    wg_write *const write = one_in(40) ? NULL : fuzz_write
ROW(wg_tape_dump) {
    TAPE(t);
    WRITES;
    GIVES_STATUS(wg_tape_dump(t, write, &left));
}
ROW(wg_tape_dot) {
    TAPE(t);
    WRITES;
    GIVES_STATUS(wg_tape_dot(t, write, &left));
}
ROW(wg_print) {
    TAPE(t);
    REAL(x);
    WRITES;
    GIVES_STATUS(wg_print(t, x, write, &left));
}
ROW(wg_write_file) {
    static FILE *file;
    if (file == NULL) file = tmpfile();
    if (file == NULL) return;
    rewind(file);
    GIVES_NUMBER(wg_write_file(file, "text", 4));
}
ROW(wg_read_file) {
    static FILE *file;
    char text[8];
    if (file == NULL) file = tmpfile();
    if (file == NULL) return;
    rewind(file);
    GIVES_NUMBER(wg_read_file(file, text, sizeof text));
}

static const struct row list[] = {
    LISTED(wg_reverse, 32),       LISTED(wg_reverse_seeds, 8),    LISTED(wg_reverse_lanes, 8),
    LISTED(wg_adjoints_clear, 6), LISTED(wg_adjoint_seed, 8),     LISTED(wg_sweep, 8),
    LISTED(wg_adjoint, 8),        LISTED(wg_adjoint_lane, 4),     LISTED(wg_adjoints_lanes, 4),
    LISTED(wg_adjoints, 6),       LISTED(wg_adjoints_add, 6),     LISTED(wg_tangent_seed, 6),
    LISTED(wg_tangent, 6),        LISTED(a_forward_recording, 4), LISTED(wg_tape_hvp, 8),
    LISTED(wg_tape_hvp_check, 2), LISTED(wg_reverse_check, 2),
    LISTED(wg_tape_hessian, 6),   LISTED(wg_tape_verify, 4),      LISTED(wg_tape_replay, 12),
    LISTED(wg_tape_value, 4),     LISTED(wg_tape_dump, 3),        LISTED(wg_tape_dot, 3),
    LISTED(wg_print, 4),          LISTED(wg_write_file, 1),       LISTED(wg_read_file, 1),
};
const struct rows calls_sweeps = ROWS(list);
