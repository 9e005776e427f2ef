/* SPDX-License-Identifier: MIT */
/* calls_matrix_drivers.c - rows: drivers for functions of matrices, with functions that they
 * call: honest ones, and ones that do what they should not. */
#include "calls.h"

/* ---- functions ---- */

#define CALL_OF(name)                                                                          \
    static wg_status name(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,          \
                          void *data)
#define UNUSED (void)t, (void)n, (void)x, (void)m, (void)y, (void)data

static wg_mat at(wg_tape *t, size_t n, const wg_mat *x, size_t i) {
    return n != 0 ? x[i % n] : wg_mat_fill(t, 1, 1, 0.5);
}
/* Outputs in the shapes of inputs: of what is wanted some shapes fit. */
CALL_OF(smooth) {
    UNUSED;
    for (size_t j = 0; j < m; j++) {
        const wg_mat a = at(t, n, x, j);
        y[j] = wg_mat_mul(t, wg_mat_exp(t, a), wg_mat_sum(t, at(t, n, x, j + 1)));
    }
    return WG_OK;
}
CALL_OF(sums) {
    UNUSED;
    for (size_t j = 0; j < m; j++)
        y[j] = wg_mat_from_real(t, wg_mat_sum(t, wg_mat_square(t, at(t, n, x, j))));
    return WG_OK;
}
CALL_OF(passes) {
    UNUSED;
    for (size_t j = 0; j < m; j++)
        y[j] = j % 2 ? wg_mat_transpose(at(t, n, x, j)) : at(t, n, x, j);
    return WG_OK;
}
CALL_OF(constants) {
    UNUSED;
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_fill(t, 1 + j, 1, j % 2 ? NAN : 3);
    return WG_OK;
}
/* Linear in the first input, a multiple of it: positive, or, of a parameter below 0, not
 * always. */
CALL_OF(linear) {
    UNUSED;
    for (size_t j = 0; j < m; j++) {
        y[j] = wg_mat_scale(t, 2, at(t, n, x, 0));
        for (size_t i = 1; i < n; i++)
            y[j] = wg_mat_add(t, y[j], wg_mat_mul(t, wg_mat_sum(t, x[i]), x[0]));
    }
    return WG_OK;
}
CALL_OF(sets_nothing) { return UNUSED, WG_OK; }
CALL_OF(fails) { return UNUSED, WG_ESINGULAR; }
CALL_OF(resets) {
    UNUSED;
    wg_tape_reset(t);
    return sums(t, n, x, m, y, data);
}
CALL_OF(pauses) {
    UNUSED;
    (void)wg_tape_pause(t);
    return sums(t, n, x, m, y, data);
}
CALL_OF(gives_strangers) {
    UNUSED;
    for (size_t j = 0; j < m; j++) y[j] = world.room[j % TAPES].mat[j % MATS];
    return WG_OK;
}
CALL_OF(sets_too_many) {
    UNUSED;
    (void)sums(t, n, x, m, y, data);
    y[m] = wg_mat_fill(t, 1, 1, 1);
    return WG_OK;
}
CALL_OF(drives) {
    UNUSED;
    (void)sums(t, n, x, m, y, data);
    return wg_mat_eval(t, sums, NULL, 0, NULL, 0, NULL);
}

static wg_mat_callback *draw_function_of_matrices(const char *name) {
    static const struct {
        wg_mat_callback *f;
        const char *name;
    } list[] = {{smooth, "smooth"},
                {sums, "sums"},
                {passes, "passes"},
                {constants, "constants"},
                {smooth, "smooth"},
                {sums, "sums"},
                {linear, "linear"},
                {sets_nothing, "sets_nothing"},
                {fails, "fails"},
                {resets, "resets"},
                {pauses, "pauses"},
                {gives_strangers, "gives_strangers"},
                {sets_too_many, "sets_too_many"},
                {drives, "drives"}};
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    const size_t k = below(sizeof list / sizeof *list);
    named(name, "%s", list[k].name);
    return list[k].f;
}

/* ---- arguments ---- */

enum { HERE = 3, LONGEST = 36 }; /* matrices, and elements of one with its gaps */

typedef struct shape {
    size_t rows, cols;
} shape;
static void draw_shapes(shape s[HERE]) {
    for (size_t i = 0; i < HERE; i++) s[i] = (shape){below(4), one_in(2) ? 1 : below(4)};
}
static size_t draw_ld(size_t rows) { return one_in(3) ? 0 : one_in(20) ? 1 : rows + below(3); }

/* Numbers in those shapes; now and then NULL, or in another shape. */
static const wg_mat_values *draw_values(const char *name, size_t n, const shape *s,
                                        wg_mat_values room[HERE]) {
    for (size_t i = 0; i < n; i++) {
        const size_t rows = one_in(30) ? below(4) : s[i].rows;
        room[i] = (wg_mat_values){draw_doubles(name, LONGEST), rows, s[i].cols, draw_ld(rows)};
        if (one_in(20)) room[i].value = NULL;
    }
    return one_in(40) ? NULL : room;
}
static const wg_mat_result *draw_places(const char *name, size_t n, const shape *s,
                                        wg_mat_result *room) {
    for (size_t i = 0; i < n; i++) {
        const size_t rows = one_in(30) ? below(4) : s[i].rows;
        room[i] = (wg_mat_result){draw_results(name, LONGEST), rows, s[i].cols, draw_ld(rows)};
        if (one_in(6)) room[i].value = NULL;
    }
    return one_in(20) ? NULL : room;
}
/* Blocks of so many rows of matrices by so many columns. */
static const wg_mat_result *draw_blocks(const char *name, size_t m, const shape *down, size_t n,
                                        const shape *across, wg_mat_result room[HERE * HERE]) {
    shape s[HERE * HERE] = {{0, 0}};
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < n; i++)
            s[j * n + i] =
                (shape){down[j].rows * down[j].cols, across[i].rows * across[i].cols};
    const wg_mat_result *const b = draw_places(name, m * n, s, room);
    for (size_t k = 0; k < m * n; k++) /* 9 rows and 2 more, 9 columns */
        if (room[k].value != NULL) room[k].value = draw_results(name, 11 * 9);
    return b;
}

#define DRIVEN                                                                                 \
    DRIVER_TAPE(t);                                                                            \
    wg_mat_callback *const f = draw_function_of_matrices("f");                                 \
    const size_t n = below(HERE + 1), m = below(HERE + 1);                                     \
    shape in[HERE], out[HERE];                                                                 \
    draw_shapes(in);                                                                           \
    for (size_t j = 0; j < HERE; j++) /* as the functions have them */                         \
        out[j] = f == sums || n == 0 ? (shape){1, 1} : in[j % n];                              \
    named("n", "%zu", n);                                                                      \
    named("m", "%zu", m);                                                                      \
    wg_mat_values x_[HERE];                                                                    \
    wg_mat_result y_[HERE];                                                                    \
    const wg_mat_values *const x = draw_values("x", n, in, x_);                                \
    const wg_mat_result *const y = draw_places("y", m, out, y_)
#define GIVEN(v, n, shapes)                                                                    \
    wg_mat_values v##_[HERE];                                                                  \
    const wg_mat_values *const v = draw_values(#v, n, shapes, v##_)
#define PLACES(v, n, shapes)                                                                   \
    wg_mat_result v##_[HERE];                                                                  \
    const wg_mat_result *const v = draw_places(#v, n, shapes, v##_)

ROW(wg_mat_eval) {
    DRIVEN;
    GIVES_STATUS(wg_mat_eval(t, f, NULL, n, x, m, y));
}
ROW(wg_mat_gradient) {
    DRIVEN;
    PLACES(g, n, in);
    RESULTS(value, 1);
    (void)y;
    GIVES_STATUS(wg_mat_gradient(t, f, NULL, n, x, value, g));
}
ROW(wg_mat_vjp) {
    DRIVEN;
    GIVEN(w, m, out);
    PLACES(g, n, in);
    GIVES_STATUS(wg_mat_vjp(t, f, NULL, n, x, m, w, y, g));
}
ROW(wg_mat_jvp) {
    DRIVEN;
    GIVEN(v, n, in);
    PLACES(jv, m, out);
    GIVES_STATUS(wg_mat_jvp(t, f, NULL, n, x, v, m, y, jv));
}
ROW(wg_mat_jacobian) {
    DRIVEN;
    wg_mat_result jac_[HERE * HERE];
    const wg_mat_result *const jac = draw_blocks("jac", m, out, n, in, jac_);
    GIVES_STATUS(wg_mat_jacobian(t, f, NULL, n, x, m, y, jac));
}
ROW(wg_mat_hvp) {
    DRIVEN;
    GIVEN(v, n, in);
    GIVEN(w, m, out);
    PLACES(g, n, in);
    PLACES(hv, n, in);
    GIVES_STATUS(wg_mat_hvp(t, f, NULL, n, x, v, m, w, y, g, hv));
}
ROW(wg_mat_hessian) {
    DRIVEN;
    GIVEN(w, m, out);
    PLACES(g, n, in);
    wg_mat_result h_[HERE * HERE];
    const wg_mat_result *const h = draw_blocks("h", n, in, n, in, h_);
    GIVES_STATUS(wg_mat_hessian(t, f, NULL, n, x, m, w, y, g, h));
}

/* ---- systems whose matrix is a product ---- */

#define KRYLOV(name)                                                                           \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        wg_mat_callback *const f =                                                             \
            one_in(4) ? draw_function_of_matrices("f") : (named("f", "linear"), linear);       \
        const size_t np = one_in(40) ? 15 : below(3);                                          \
        named("np", "%zu", np);                                                                \
        wg_mat p_[15];                                                                         \
        for (size_t i = 0; i < 15; i++) p_[i] = draw_mat("p", below(3), below(3));             \
        const wg_mat *const p = one_in(20) ? NULL : p_;                                        \
        DIM(n);                                                                                \
        MAT(b, n, 1);                                                                          \
        const double tolerance[] = {0, 1e-8, 1e-15, -1, NAN};                                  \
        const wg_krylov how_ = {tolerance[below(5)], below(4) * 20, below(4)};                 \
        const wg_krylov *const how = one_in(2) ? NULL : &how_;                                 \
        GIVES_MAT(name(t, f, NULL, np, p, b, how));                                            \
    }
KRYLOV(wg_cg)
KRYLOV(wg_gmres)

static const struct row list[] = {
    LISTED(wg_mat_eval, 4),    LISTED(wg_mat_gradient, 6), LISTED(wg_mat_vjp, 8),
    LISTED(wg_mat_jvp, 8),     LISTED(wg_mat_jacobian, 8), LISTED(wg_mat_hvp, 8),
    LISTED(wg_mat_hessian, 6), LISTED(wg_cg, 4),           LISTED(wg_gmres, 4),
};
const struct rows calls_matrix_drivers = ROWS(list);
