/* SPDX-License-Identifier: MIT */
/* calls_drivers.c - rows: drivers, checks, sparse patterns, implicit functions. */
#include "calls.h"

#define DRIVEN                                                                                 \
    DRIVER_TAPE(t);                                                                            \
    CALLBACK(f);                                                                               \
    COUNT(n);                                                                                  \
    DOUBLES(x, n)

ROW(wg_eval) {
    DRIVEN;
    COUNT(m);
    RESULTS(y, m);
    GIVES_STATUS(wg_eval(t, f, NULL, n, x, m, y));
}
ROW(wg_gradient) {
    DRIVEN;
    RESULTS(value, 1);
    RESULTS(g, n);
    GIVES_STATUS(wg_gradient(t, f, NULL, n, x, value, g));
}
static wg_layout draw_layout(const char *name) {
    const int k = one_in(30) ? 7 : (int)below(2);
    named(name, "%d", k);
    return (wg_layout)k;
}
ROW(wg_jacobian) {
    DRIVEN;
    COUNT(m);
    RESULTS(y, m);
    const wg_layout layout = draw_layout("layout");
    const size_t ld = one_in(9) ? below(4) : m > n ? m : n;
    named("ld", "%zu", ld);
    RESULTS(jac, 64);
    GIVES_STATUS(wg_jacobian(t, f, NULL, n, x, m, y, layout, jac, ld));
}
ROW(wg_jacobian_groups) {
    DRIVER_TAPE(t);
    CALLBACK(f);
    const size_t groups = below(3);
    size_t size_[2], ld_[2];
    const double *x_[2];
    double *jac_[2];
    COUNT(m);
    for (size_t g = 0; g < 2; g++) {
        size_[g] = draw_count("size"), ld_[g] = one_in(9) ? below(3) : 8;
        x_[g] = draw_doubles("x", size_[g]);
        jac_[g] = draw_results("jac", 64);
    }
    const size_t *const size = one_in(60) ? NULL : size_, *const ld = one_in(60) ? NULL : ld_;
    const double *const *const x = one_in(60) ? NULL : x_;
    double *const *const jac = one_in(60) ? NULL : jac_;
    RESULTS(y, m);
    const wg_layout layout = draw_layout("layout");
    named("groups", "%zu", groups);
    GIVES_STATUS(wg_jacobian_groups(t, f, NULL, groups, size, x, m, y, layout, jac, ld));
}
ROW(wg_jvp) {
    DRIVEN;
    DOUBLES(v, n);
    COUNT(m);
    RESULTS(y, m);
    RESULTS(jv, m);
    GIVES_STATUS(wg_jvp(t, f, NULL, n, x, v, m, y, jv));
}
ROW(wg_vjp) {
    DRIVEN;
    COUNT(m);
    DOUBLES(w, m);
    RESULTS(y, m);
    RESULTS(g, n);
    GIVES_STATUS(wg_vjp(t, f, NULL, n, x, m, w, y, g));
}
ROW(wg_hvp) {
    DRIVEN;
    DOUBLES(v, n);
    RESULTS(value, 1);
    RESULTS(g, n);
    RESULTS(hv, n);
    GIVES_STATUS(wg_hvp(t, f, NULL, n, x, v, value, g, hv));
}
ROW(wg_hessian) {
    DRIVEN;
    RESULTS(value, 1);
    RESULTS(g, n);
    RESULTS(h, 64);
    const size_t ld = one_in(9) ? below(4) : n;
    named("ld", "%zu", ld);
    GIVES_STATUS(wg_hessian(t, f, NULL, n, x, value, g, h, ld));
}

/* Vectors of eight numbers at most: a stride that leaves them in the room there is. */
static ptrdiff_t draw_stride(const char *name) {
    const ptrdiff_t k = one_in(9) ? 0 : 1 + (ptrdiff_t)below(2);
    named(name, "%td", k);
    return k;
}
#define STRIDED(name, n)                                                                       \
    const ptrdiff_t name##_stride = draw_stride(#name "_stride");                              \
    DOUBLES(name##_, 2 * (n));                                                                 \
    const wg_strided name = {name##_, name##_stride}
#define STRIDED_RESULT(name, n)                                                                \
    const ptrdiff_t name##_stride = draw_stride(#name "_stride");                              \
    RESULTS(name##_, 2 * (n));                                                                 \
    const wg_strided_result name = {name##_, name##_stride}
#define DRIVEN_STRIDED                                                                         \
    DRIVER_TAPE(t);                                                                            \
    CALLBACK(f);                                                                               \
    COUNT(n);                                                                                  \
    STRIDED(x, n)
ROW(wg_eval_strided) {
    DRIVEN_STRIDED;
    COUNT(m);
    STRIDED_RESULT(y, m);
    GIVES_STATUS(wg_eval_strided(t, f, NULL, n, x, m, y));
}
ROW(wg_gradient_strided) {
    DRIVEN_STRIDED;
    RESULTS(value, 1);
    STRIDED_RESULT(g, n);
    GIVES_STATUS(wg_gradient_strided(t, f, NULL, n, x, value, g));
}
ROW(wg_jacobian_strided) {
    DRIVEN_STRIDED;
    COUNT(m);
    STRIDED_RESULT(y, m);
    const int rows = below(2) != 0;
    const ptrdiff_t row = one_in(9) ? 0
                          : rows    ? (ptrdiff_t)n
                                    : 1,
                    col = one_in(9) ? 0
                          : rows    ? 1
                                    : (ptrdiff_t)m;
    named("row", "%td", row), named("col", "%td", col);
    RESULTS(jac, 64);
    GIVES_STATUS(wg_jacobian_strided(t, f, NULL, n, x, m, y, jac, row, col));
}
ROW(wg_jvp_strided) {
    DRIVEN_STRIDED;
    STRIDED(v, n);
    COUNT(m);
    STRIDED_RESULT(y, m);
    STRIDED_RESULT(jv, m);
    GIVES_STATUS(wg_jvp_strided(t, f, NULL, n, x, v, m, y, jv));
}
ROW(wg_vjp_strided) {
    DRIVEN_STRIDED;
    COUNT(m);
    STRIDED(w, m);
    STRIDED_RESULT(y, m);
    STRIDED_RESULT(g, n);
    GIVES_STATUS(wg_vjp_strided(t, f, NULL, n, x, m, w, y, g));
}
ROW(wg_hvp_strided) {
    DRIVEN_STRIDED;
    STRIDED(v, n);
    RESULTS(value, 1);
    STRIDED_RESULT(g, n);
    STRIDED_RESULT(hv, n);
    GIVES_STATUS(wg_hvp_strided(t, f, NULL, n, x, v, value, g, hv));
}
ROW(wg_hessian_strided) {
    DRIVEN_STRIDED;
    RESULTS(value, 1);
    STRIDED_RESULT(g, n);
    RESULTS(h, 64);
    const size_t ld = one_in(9) ? below(4) : n;
    named("ld", "%zu", ld);
    GIVES_STATUS(wg_hessian_strided(t, f, NULL, n, x, value, g, h, ld));
}
ROW(wg_check_gradient) {
    DRIVEN;
    COUNT(m);
    wg_check room, *const result = one_in(40) ? NULL : &room;
    GIVES_STATUS(wg_check_gradient(t, f, NULL, n, x, m, result));
}
ROW(wg_check_hessian) {
    DRIVEN;
    COUNT(m);
    wg_check room, *const result = one_in(40) ? NULL : &room;
    GIVES_STATUS(wg_check_hessian(t, f, NULL, n, x, m, result));
}

ROW(wg_check_gradient_within) {
    DRIVEN;
    COUNT(m);
    DOUBLES(lower, n);
    DOUBLES(upper, n);
    DOUBLES(scale, n);
    const wg_check_range range = {lower, upper, scale}, *const within =
                                                            one_in(40) ? NULL : &range;
    wg_check room, *const result = one_in(40) ? NULL : &room;
    GIVES_STATUS(wg_check_gradient_within(t, f, NULL, n, x, m, within, result));
}
ROW(wg_check_hessian_within) {
    DRIVEN;
    COUNT(m);
    DOUBLES(lower, n);
    const wg_check_range range = {.lower = lower}, *const within = one_in(40) ? NULL : &range;
    wg_check room, *const result = one_in(40) ? NULL : &room;
    GIVES_STATUS(wg_check_hessian_within(t, f, NULL, n, x, m, within, result));
}

ROW(wg_check_branches) {
    DRIVEN;
    COUNT(m);
    const size_t points = below(3);
    named("points", "%zu", points);
    DOUBLES(at, n * points);
    GIVES_STATUS(wg_check_branches(t, f, NULL, n, x, m, points, at));
}

/* ---- sparse derivatives ---- */

#define GIVES_SPARSITY(n_, m_, f_, e)                                                          \
    do {                                                                                       \
        wg_sparsity *place = NULL, **const out = one_in(60) ? NULL : &place;                   \
        say("sparsity", #e);                                                                   \
        const wg_status s_ = (e);                                                              \
        keep_sparsity(s_, place, n_, m_, f_);                                                  \
    } while (0)
static wg_callback *patterned[SPARSITIES]; /* of what a pattern is */
static void keep_sparsity(wg_status s, wg_sparsity *p, size_t n, size_t m, wg_callback *f) {
    const size_t k = below(SPARSITIES);
    if (status(s) != WG_OK && p != NULL) finding("a pattern and a failure");
    if (p == NULL) return;
    wg_sparsity_free(world.sparsity[k]);
    world.sparsity[k] = p;
    world.sparsity_n[k] = n, world.sparsity_m[k] = m;
    patterned[k] = f;
}
ROW(wg_jacobian_sparsity) {
    DRIVEN;
    COUNT(m);
    const wg_layout layout = draw_layout("layout");
    GIVES_SPARSITY(n, m, f, wg_jacobian_sparsity(t, f, NULL, n, x, m, layout, out));
}
ROW(wg_hessian_sparsity) {
    DRIVEN;
    COUNT(m);
    FLAG(triangle, "LUF");
    const wg_layout layout = draw_layout("layout");
    GIVES_SPARSITY(n, m, f, wg_hessian_sparsity(t, f, NULL, n, x, m, triangle, layout, out));
}
static size_t entries_of(uint32_t *row, uint32_t *col, size_t rows, size_t cols,
                         char triangle) {
    size_t n = 0;
    const int all = one_in(2);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < cols; j++) {
            if ((triangle == 'L' && j > i) || (triangle == 'U' && j < i)) continue;
            if (all || one_in(2)) row[n] = i, col[n++] = j;
        }
    if (n != 0 && one_in(20)) row[below(n)] = (uint32_t)below(9);
    return n;
}
#define ENTRIES(rows, cols, triangle)                                                          \
    uint32_t row_[64], col_[64];                                                               \
    const size_t entries = entries_of(row_, col_, rows, cols, triangle);                       \
    const uint32_t *const row = one_in(60) ? NULL : row_, *const col =                         \
                                                              one_in(60) ? NULL : col_;        \
    named("entries", "%zu", entries)
ROW(wg_jacobian_sparsity_of) {
    DRIVER_TAPE(t);
    COUNT(n);
    COUNT(m);
    ENTRIES(m, n, 'F');
    const wg_layout layout = draw_layout("layout");
    const unsigned flags = one_in(40) ? 8 : (unsigned)below(2);
    GIVES_SPARSITY(n, m, one_callback(),
                   wg_jacobian_sparsity_of(t, n, m, entries, row, col, layout, flags, out));
}
ROW(wg_hessian_sparsity_of) {
    DRIVER_TAPE(t);
    COUNT(n);
    COUNT(m);
    FLAG(triangle, "LUF");
    ENTRIES(n, n, triangle);
    const wg_layout layout = draw_layout("layout");
    const unsigned flags = one_in(40) ? 8 : (unsigned)below(2);
    GIVES_SPARSITY(
        n, m, one_callback(),
        wg_hessian_sparsity_of(t, n, m, entries, row, col, triangle, layout, flags, out));
}
static size_t draw_sparsity(const char *name) {
    size_t k = below(SPARSITIES);
    for (size_t i = 0; i < SPARSITIES && world.sparsity[k] == NULL; i++)
        k = (k + 1) % SPARSITIES;
    named(name, world.sparsity[k] != NULL ? "sparsity %zu" : "NULL (%zu)", k);
    return k;
}
#define SPARSITY                                                                               \
    const size_t which = draw_sparsity("s");                                                   \
    const wg_sparsity *const s = one_in(40) ? NULL : world.sparsity[which]
ROW(wg_sparsity_select) {
    DRIVER_TAPE(t);
    SPARSITY;
    uint32_t row_[64], col_[64];
    const wg_pattern *const p = wg_sparsity_pattern(s);
    size_t entries = 0;
    for (size_t i = 0; p != NULL && i < p->entries && i < 60; i++)
        if (one_in(2)) row_[entries] = p->row[i], col_[entries++] = p->col[i];
    if (one_in(8)) row_[entries] = 1, col_[entries++] = (uint32_t)below(9);
    const uint32_t *const row = one_in(60) ? NULL : row_, *const col = one_in(60) ? NULL : col_;
    named("entries", "%zu", entries);
    GIVES_SPARSITY(world.sparsity_n[which], world.sparsity_m[which], patterned[which],
                   wg_sparsity_select(t, s, entries, row, col, out));
}
ROW(wg_sparsity_colour) {
    DRIVER_TAPE(t);
    SPARSITY;
    const wg_colouring o_ = {.order = (wg_order)(one_in(20) ? 77 : below(6)),
                             .sweeps = (wg_sweeps)(one_in(20) ? 77 : below(4)),
                             .substitution = one_in(3)};
    const wg_colouring *const o = one_in(6) ? NULL : &o_;
    GIVES_SPARSITY(world.sparsity_n[which], world.sparsity_m[which], patterned[which],
                   wg_sparsity_colour(t, s, o, out));
}
ROW(wg_sparsity_free) {
    const size_t k = draw_sparsity("s");
    say("", "wg_sparsity_free(s)");
    wg_sparsity_free(world.sparsity[k]);
    world.sparsity[k] = NULL;
}
ROW(wg_sparsity_pattern) {
    SPARSITY;
    say("", "wg_sparsity_pattern(s)");
    const wg_pattern *const p = wg_sparsity_pattern(s);
    for (size_t i = 0; p != NULL && i < p->entries; i++) sink = p->row[i] + p->col[i];
}
ROW(wg_sparsity_colours) {
    SPARSITY;
    GIVES_NUMBER(wg_sparsity_colours(s));
}
#define SPARSE                                                                                 \
    DRIVER_TAPE(t);                                                                            \
    SPARSITY;                                                                                  \
    const int same = world.sparsity[which] != NULL && !one_in(5);                              \
    wg_callback *const f = same ? patterned[which] : draw_callback("f");                       \
    DOUBLES(x, world.sparsity_n[which]);                                                       \
    RESULTS(y, world.sparsity_m[which]);                                                       \
    RESULTS(values, 256)
ROW(wg_sparse_jacobian) {
    SPARSE;
    GIVES_STATUS(wg_sparse_jacobian(t, s, f, NULL, x, y, values));
}
ROW(wg_sparse_hessian) {
    SPARSE;
    DOUBLES(w, world.sparsity_m[which]);
    RESULTS(g, world.sparsity_n[which]);
    GIVES_STATUS(wg_sparse_hessian(t, s, f, NULL, x, w, y, g, values));
}

/* ---- implicit ---- */

static wg_status residual(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)data;
    for (size_t i = 0; i < m; i++)
        y[i] = wg_let(t, wg_sub(wg_mul(x[i % n], wg_add(3, wg_sin(x[(i + 1) % n]))), x[n - 1]));
    return WG_OK;
}
#define IMPLICIT(name)                                                                         \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        wg_callback *const f = one_in(4) ? draw_callback("f") : residual;                      \
        COUNT(n);                                                                              \
        COUNT(np);                                                                             \
        DOUBLES(x, n);                                                                         \
        REAL_ARRAY(p, np);                                                                     \
        wg_real room[8], *const y = one_in(60) ? NULL : room;                                  \
        for (size_t i = 0; i < 8; i++) room[i] = wg_constant(0);                               \
        if (n + np == 0) return;                                                               \
        GIVES_STATUS(name(t, f, NULL, n, x, np, p, y));                                        \
        if (n != 0) keep_real(room[n - 1]);                                                    \
    }
IMPLICIT(wg_implicit)
IMPLICIT(wg_fixed_point)
ROW(wg_preaccumulate) {
    TAPE(t);
    COUNT(n);
    COUNT(m);
    wg_real room[8], *const y = one_in(60) ? NULL : room;
    REAL_ARRAY(x, n);
    wg_mark start = draw_mark("start");
    if (t != NULL && !one_in(6)) start = wg_tape_mark(t);
    for (size_t j = 0; j < m; j++)
        room[j] = x != NULL && n != 0 && !one_in(9)
                      ? wg_let(t, wg_mul(wg_exp(x[j % n]), wg_sin(x[(j + 1) % n])))
                      : draw_real("y");
    GIVES_STATUS(wg_preaccumulate(t, start, n, x, m, y));
    if (m != 0) keep_real(room[0]);
}

static size_t draw_order(void) {
    const size_t order = one_in(40) ? 77 : below(5);
    named("order", "%zu", order);
    return order;
}
ROW(wg_taylor) {
    DRIVER_TAPE(t);
    CALLBACK(f);
    COUNT(n);
    COUNT(m);
    const size_t order = draw_order();
    DOUBLES(x, n * (order + 1));
    RESULTS(c, m * (order + 1));
    GIVES_STATUS(wg_taylor(t, f, NULL, n, order, x, m, c));
}
ROW(wg_taylor_vjp) {
    DRIVER_TAPE(t);
    CALLBACK(f);
    COUNT(n);
    COUNT(m);
    const size_t order = draw_order();
    DOUBLES(x, n * (order + 1));
    DOUBLES(w, m * (order + 1));
    RESULTS(c, m * (order + 1));
    RESULTS(g, n * (order + 1));
    GIVES_STATUS(wg_taylor_vjp(t, f, NULL, n, order, x, m, w, c, g));
}

static const struct row list[] = {
    LISTED(wg_taylor, 4),
    LISTED(wg_taylor_vjp, 4),
    LISTED(wg_sparsity_colour, 4),
    LISTED(wg_eval, 8),
    LISTED(wg_gradient, 8),
    LISTED(wg_jacobian, 8),
    LISTED(wg_jacobian_groups, 8),
    LISTED(wg_jvp, 6),
    LISTED(wg_vjp, 6),
    LISTED(wg_hvp, 8),
    LISTED(wg_hessian, 8),
    LISTED(wg_eval_strided, 4),
    LISTED(wg_gradient_strided, 4),
    LISTED(wg_jacobian_strided, 4),
    LISTED(wg_jvp_strided, 4),
    LISTED(wg_vjp_strided, 4),
    LISTED(wg_hvp_strided, 4),
    LISTED(wg_hessian_strided, 4),
    LISTED(wg_check_gradient, 1),
    LISTED(wg_check_hessian, 1),
    LISTED(wg_check_branches, 2),
    LISTED(wg_check_gradient_within, 1),
    LISTED(wg_check_hessian_within, 1),
    LISTED(wg_jacobian_sparsity, 8),
    LISTED(wg_hessian_sparsity, 8),
    LISTED(wg_jacobian_sparsity_of, 6),
    LISTED(wg_hessian_sparsity_of, 6),
    LISTED(wg_sparsity_select, 6),
    LISTED(wg_sparsity_free, 2),
    LISTED(wg_sparsity_pattern, 4),
    LISTED(wg_sparsity_colours, 2),
    LISTED(wg_sparse_jacobian, 12),
    LISTED(wg_sparse_hessian, 12),
    LISTED(wg_implicit, 8),
    LISTED(wg_fixed_point, 8),
    LISTED(wg_preaccumulate, 12),
};
const struct rows calls_drivers = ROWS(list);
