/* SPDX-License-Identifier: MIT */
/* programs_tapes.c - a program on tapes, at a point: recorded, swept, replayed, forwards,
 * twice; sparse. */
#include <math.h>
#include <string.h>
#include "programs_check.h"

/* A recording. */
struct recording {
    wg_status status;
    wg_real x[PROGRAM_NUMBERS], y[PROGRAM_OUTPUTS];
    double value[PROGRAM_OUTPUTS], jacobian[PROGRAM_OUTPUTS * PROGRAM_NUMBERS];
};

static wg_status record(struct check *r, wg_tape *t, const double *x, struct recording *out) {
    const size_t n = r->p->n;
    out->status = wg_inputs(t, n, x, out->x);
    if (out->status == WG_OK)
        out->status = program_callback(t, n, out->x, r->p->m, out->y, &r->run);
    if (out->status == WG_OK) out->status = wg_tape_status(t);
    for (size_t j = 0; out->status == WG_OK && j < r->p->m; j++)
        out->value[j] = wg_value(out->y[j]);
    return out->status;
}

static wg_status rows(struct check *r, wg_tape *t, struct recording *a) {
    const size_t n = r->p->n;
    memset(a->jacobian, 0, r->p->m * n * sizeof *a->jacobian);
    for (size_t j = 0; j < r->p->m && a->status == WG_OK; j++) {
        if (a->y[j].at.slot == 0) continue;
        a->status = wg_reverse(t, a->y[j]);
        if (a->status == WG_OK) a->status = wg_adjoints(t, n, a->x, a->jacobian + j * n);
    }
    return a->status;
}

static void plain(struct check *r) {
    struct truth *const at = &r->truth[r->at];
    struct recording a;
    wg_tape_reset(r->k->plain);
    at->recorded = record(r, r->k->plain, at->x, &a);
    at->status = rows(r, r->k->plain, &a);
    if (!check_status(r, at->status)) return;
    memcpy(at->value, a.value, sizeof a.value);
    memcpy(at->jacobian, a.jacobian, sizeof a.jacobian);
    check_values(r, "tape", a.value);
    check_jacobian(r, "tape", a.jacobian);
}

/* The plain tape's bits, status and all; of a code-keeping tape values and derivatives. */
static void other(struct check *r, const char *mode, wg_tape *t, struct recording *a) {
    const struct truth *const at = &r->truth[r->at];
    wg_tape_reset(t);
    (void)record(r, t, at->x, a);
    (void)rows(r, t, a);
    if (a->status != at->status) {
        check_finding(r, mode, "status", "%s, the plain tape: %s", wg_status_text(a->status),
                      wg_status_text(at->status));
        return;
    }
    if (a->status != WG_OK) return;
    check_bits(r, mode, "value", r->p->m, a->value, at->value);
    check_bits(r, mode, "first order", r->p->m * r->p->n, a->jacobian, at->jacobian);
}

/* All rows at once. */
static void lanes(struct check *r) {
    const struct truth *const at = &r->truth[r->at];
    const size_t n = r->p->n, m = r->p->m;
    struct recording a;
    double w[PROGRAM_OUTPUTS * PROGRAM_OUTPUTS] = {0}, got[PROGRAM_OUTPUTS * PROGRAM_NUMBERS];
    wg_tape *const t = r->k->plain;
    size_t active = 0;
    wg_tape_reset(t);
    if (at->status != WG_OK || record(r, t, at->x, &a) != WG_OK) return;
    for (size_t j = 0; j < m; j++) w[j * m + j] = 1, active += a.y[j].at.slot != 0;
    if (active == 0) return;
    wg_status s = wg_reverse_lanes(t, m, m, a.y, w);
    if (s == WG_OK) s = wg_adjoints_lanes(t, n, a.x, m, got, n);
    if (s != WG_OK) check_finding(r, "lanes", "status", "%s", wg_tape_message(t));
    else if (r->scalar) check_bits(r, "lanes", "first order", m * n, got, at->jacobian);
    else check_jacobian(r, "lanes", got);
}

static void forward(struct check *r) {
    const struct truth *const at = &r->truth[r->at];
    const size_t n = r->p->n, m = r->p->m;
    wg_tape *const t = r->k->forward;
    struct recording a;
    double jacobian[PROGRAM_OUTPUTS * PROGRAM_NUMBERS];
    wg_tape_reset(t);
    if (wg_tape_forward(t, n) != WG_OK || wg_inputs(t, n, at->x, a.x) != WG_OK) return;
    for (size_t i = 0; i < n; i++)
        if (wg_tangent_seed(t, a.x[i], i, 1) != WG_OK) return;
    if (!check_status(r, program_callback(t, n, a.x, m, a.y, &r->run))) return;
    for (size_t j = 0; j < m; j++) {
        a.value[j] = wg_value(a.y[j]);
        for (size_t i = 0; i < n; i++) jacobian[j * n + i] = wg_tangent(t, a.y[j], i);
    }
    if (at->status == WG_OK) check_bits(r, "forward", "value", m, a.value, at->value);
    check_jacobian(r, "forward", jacobian);
}

/* Hessian of the weighted sum of what is on a code-keeping tape. */
static void hessian(struct check *r, const char *mode, wg_tape *t, const struct recording *a,
                    double *h, int *done) {
    const size_t n = r->p->n;
    const wg_real y = wg_linear(t, r->p->m, program_weights, a->y);
    *done = 0;
    if (y.at.slot == 0) return;
    if (!check_status(r, wg_tape_hessian(t, y, n, a->x, h, n))) return;
    *done = 1;
    check_hessian(r, mode, h);
}

/* Recorded elsewhere and replayed here: the bits of a new recording. */
static void replay(struct check *r) {
    const struct truth *const at = &r->truth[r->at];
    const size_t n = r->p->n, m = r->p->m;
    wg_tape *const t = r->k->code;
    struct recording fresh, a;
    double h0[PROGRAM_NUMBERS * PROGRAM_NUMBERS], h[PROGRAM_NUMBERS * PROGRAM_NUMBERS];
    int done0 = 0, done = 0;
    other(r, "code", r->k->fresh, &fresh);
    if (fresh.status == WG_OK) hessian(r, "tape", r->k->fresh, &fresh, h0, &done0);
    wg_tape_reset(t);
    if (record(r, t, r->p->at, &a) != WG_OK) return;
    const wg_status s = wg_tape_replay(t, n, a.x, at->x);
    if (!check_status(r, s)) return;
    for (size_t j = 0; j < m; j++) {
        a.value[j] = a.y[j].at.slot == 0 ? wg_value(a.y[j]) : wg_tape_value(t, a.y[j]);
        if (a.y[j].at.slot == 0) a.value[j] = fresh.value[j];
    }
    (void)rows(r, t, &a);
    if (fresh.status != WG_OK) {
        if (a.status == WG_OK)
            check_finding(r, "replay", "status", "no error, a new recording: %s",
                          wg_status_text(fresh.status));
        return;
    }
    if (a.status != WG_OK) {
        check_finding(r, "replay", "status", "%s, a new recording: no error",
                      wg_tape_message(t));
        return;
    }
    check_bits(r, "replay", "value", m, a.value, fresh.value);
    check_bits(r, "replay", "first order", m * n, a.jacobian, fresh.jacobian);
    hessian(r, "replay", t, &a, h, &done);
    if (done && done0) check_bits(r, "replay", "second order", n * n, h, h0);
}

/* The pattern is that of the recording point. */
static void sparse(struct check *r) {
    const struct truth *const at = &r->truth[r->at];
    const size_t n = r->p->n, m = r->p->m;
    wg_tape *const t = r->k->fresh;
    wg_sparsity *s = NULL;
    double values[PROGRAM_OUTPUTS * PROGRAM_NUMBERS],
        dense[PROGRAM_OUTPUTS * PROGRAM_NUMBERS] = {0},
                                hessian_values[PROGRAM_NUMBERS * PROGRAM_NUMBERS],
                                h[PROGRAM_NUMBERS * PROGRAM_NUMBERS] = {0};
    if (at->status != WG_OK) return;
    if (check_status(r, wg_jacobian_sparsity(t, program_callback, &r->run, n, r->p->at, m,
                                             WG_ROW_MAJOR, &s)) &&
        check_status(
            r, wg_sparse_jacobian(t, s, program_callback, &r->run, at->x, NULL, values))) {
        const wg_pattern *const p = wg_sparsity_pattern(s);
        for (size_t e = 0; e < p->entries; e++) dense[p->row[e] * n + p->col[e]] = values[e];
        check_jacobian(r, "sparse", dense);
    }
    wg_sparsity_free(s);
    s = NULL;
    if (check_status(r, wg_hessian_sparsity(t, program_callback, &r->run, n, r->p->at, m, 'F',
                                            WG_ROW_MAJOR, &s)) &&
        check_status(r, wg_sparse_hessian(t, s, program_callback, &r->run, at->x,
                                          program_weights, NULL, NULL, hessian_values))) {
        const wg_pattern *const p = wg_sparsity_pattern(s);
        for (size_t e = 0; e < p->entries; e++)
            h[p->row[e] + p->col[e] * n] = hessian_values[e];
        check_hessian(r, "sparse", h);
    }
    wg_sparsity_free(s);
}

void check_tapes(struct check *r) {
    struct recording a;
    plain(r);
    other(r, "checked", r->k->checked, &a);
    lanes(r);
    forward(r);
    replay(r);
    if (r->at % 2 == 0) sparse(r);
}
