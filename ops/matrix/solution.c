/* SPDX-License-Identifier: MIT */
/* Solutions of differential equations as nodes of functions: each part of solution.h is a row
 * of whole.h. What a rule records has no values: nothing is solved before the function is
 * evaluated. */
#include "solution.h"

#include "traits.h"
#include "whole.h"

#include <string.h>

/* NULL: it is not known yet. */
static const wgi_ode_object *object_of(const wg_block *b) {
    const wgi_ode_object *o;
    memcpy(&o, b->params, sizeof o);
    return o;
}
_Static_assert(sizeof(wgi_ode_object *) == sizeof(double), "an address is as long as a number");

/* ---- parts, and what is recorded in their place ---- */

static void set_shape(wg_block_arg *a, size_t rows, size_t cols) {
    a->rows = rows, a->cols = cols;
}

/* Of y; or of both x and p. */
static wg_status shape_of(wg_block *b, wgi_ode_node_part part) {
    const wgi_ode_object *const o = object_of(b);
    if (o == NULL) return WG_OK;
    if (part == WGI_ODE_PART_VALUE || part == WGI_ODE_PART_TANGENT)
        set_shape(&b->out[0], 1, o->k);
    else set_shape(&b->out[0], o->n, 1), set_shape(&b->out[1], o->m, 1);
    return WG_OK;
}

static wg_status room_of(wg_block *b, wgi_ode_node_part part) {
    const wgi_ode_object *const o = object_of(b);
    b->work_bytes = o != NULL ? o->work(o, part) : 0;
    return shape_of(b, part);
}

static wg_status run(wg_block *b, wgi_ode_node_part part) {
    const wgi_ode_object *const o = object_of(b);
    return o != NULL ? o->run(o, part, b) : WG_EARG;
}

static wg_status no_values(wg_block *b) {
    for (size_t k = 0; k < b->outputs; k++)
        memset(b->out[k].value, 0, b->out[k].rows * b->out[k].cols * sizeof(double));
    return WG_OK;
}

static wg_status swept(wg_block *b) {
    return wgi_block_refuse(b, WG_EMODE, "a solution in a function is swept on no tape");
}

static const wgi_traits own = {.own = 1};

#define PART(stem, PART_OF, operands, results)                                                 \
    static wg_status stem##_room(wg_block *b) { return room_of(b, PART_OF); }                  \
    static wg_status stem##_value(wg_block *b) { return run(b, PART_OF); }                     \
    static wg_status stem##_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out, \
                                 const wg_mat *bar, wg_mat *back);                             \
    static const wg_block_op stem##_op = {.name = "wg_ode_solve",                              \
                                          .shape = stem##_room,                                \
                                          .value = stem##_value,                               \
                                          .vjp = swept,                                        \
                                          .traits = &own};                                     \
    const wgi_whole wgi_whole_ode_##stem = {&stem##_op, operands, results, stem##_rule,        \
                                            NULL,       0,        1,       0}
#define RECORDED(stem, PART_OF)                                                                \
    static wg_status stem##_shape(wg_block *b) { return shape_of(b, PART_OF); }                \
    static const wgi_traits stem##_as_node = {.whole = &wgi_whole_ode_##stem};                 \
    static const wg_block_op stem##_recorded = {.name = "wg_ode_solve",                        \
                                                .shape = stem##_shape,                         \
                                                .value = no_values,                            \
                                                .vjp = swept,                                  \
                                                .traits = &stem##_as_node}

PART(value, WGI_ODE_PART_VALUE, "n1m1", "1k");
PART(back, WGI_ODE_PART_BACK, "n1m11k", "n1m1");
PART(tangent, WGI_ODE_PART_TANGENT, "n1m1n1m1", "1k");
PART(second, WGI_ODE_PART_SECOND, "n1m11kn1m1", "n1m1");
RECORDED(back, WGI_ODE_PART_BACK);
RECORDED(tangent, WGI_ODE_PART_TANGENT);
RECORDED(second, WGI_ODE_PART_SECOND);

/* ---- rules ---- */

/* Records a part; where there is none, its results are no matrices, and b->why says why. */
static wg_status record(wg_tape *t, wg_block *b, const wg_block_op *op, wgi_ode_node_part part,
                        size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out) {
    const char *const why = object_of(b)->lacks[part];
    if (why == NULL)
        return wg_apply(t, op, b->params, sizeof(double), inputs, in, outputs, out);
    b->why = why;
    for (size_t k = 0; k < outputs; k++) out[k] = wg_mat_failed(1, 1);
    return WG_OK;
}

static wg_status value_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    (void)out;
    const wg_mat x[] = {in[0], in[1], bar[0]};
    return record(t, b, &back_recorded, WGI_ODE_PART_BACK, 3, x, 2, back);
}

static wg_status back_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                           const wg_mat *bar, wg_mat *back) {
    (void)out;
    const wg_mat along[] = {in[0], in[1], bar[0], bar[1]};
    const wg_mat again[] = {in[0], in[1], in[2], bar[0], bar[1]};
    const wg_status s =
        record(t, b, &tangent_recorded, WGI_ODE_PART_TANGENT, 4, along, 1, back + 2);
    return s != WG_OK ? s
                      : record(t, b, &second_recorded, WGI_ODE_PART_SECOND, 5, again, 2, back);
}

static wg_status tangent_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    (void)out;
    const wg_mat x[] = {in[0], in[1], bar[0]}, again[] = {in[0], in[1], bar[0], in[2], in[3]};
    const wg_status s = record(t, b, &back_recorded, WGI_ODE_PART_BACK, 3, x, 2, back + 2);
    return s != WG_OK ? s
                      : record(t, b, &second_recorded, WGI_ODE_PART_SECOND, 5, again, 2, back);
}

/* H (u, v) of the Hessian of w'y, which is symmetric; by w it would be a tangent of a tangent,
 * by the others a third derivative. */
static wg_status second_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    (void)out;
    const wg_mat again[] = {in[0], in[1], in[2], bar[0], bar[1]};
    for (size_t k = 0; k < 3; k++) back[k] = wg_mat_failed(1, 1);
    const wg_status s =
        record(t, b, &second_recorded, WGI_ODE_PART_SECOND, 5, again, 2, back + 3);
    return wgi_block_refuse(b, s, "there are no third derivatives, nor tangents of tangents");
}
