/* SPDX-License-Identifier: MIT */
/* Models: an op-graph over a tape, a layer above functions for those who want one, which
 * <wengert.h> does not bring in. Its nodes are matrices of a recording:
 *
 *   placeholders  are fed when a computation runs, one value for all points or one at each
 *   variables     keep their values from run to run; initialised, updated, saved, restored
 *   operations    of any kind: with wg_model_op, or recorded on the tape as always
 *   derivatives   and sums over points: made from nodes, nodes again
 *
 * A computation is a wg_function made for the nodes asked for, and does nothing else. It is
 * built once and run many times:
 *
 *     wg_mat x = wg_model_placeholder(m, "x", features, one, 0, NULL);
 *     wg_mat w = wg_model_variable(m, "w", outputs, features, wg_initial_normal(1, 0, 0.5));
 *     wg_mat y = wg_model_op(m, wg_mat_tanh, wg_model_op(m, wg_matmul, w, x));
 *
 * Nodes have a name, tags, a place in the source, and axes that may have names. A recording
 * call that fails gives a failed matrix, and its status is the tape's: ask once. The others
 * return theirs, and the tape has the message. One thread uses a model at a time; a computation
 * is a function, and any number of threads may evaluate it. */
#ifndef WENGERT_MODEL_H
#define WENGERT_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include <wengert/file.h>
#include <wengert/function.h>
#include <wengert/matrix.h>

WG_BEGIN_DECLS

typedef struct wg_model wg_model;

/* wg_model_new - on a tape with WG_KEEP_CODE, which outlives the model. While there is a model
 * the tape is not reset, nor rewound to before a node: what is recorded then cannot be used any
 * more (WG_ESTALE); values of variables, and computations, can.
 * Errors:  WG_ENULL, WG_EMODE, WG_ENOMEM. *out is NULL then.
 * wg_model_free - its nodes stay on the tape as matrices; functions stay. NULL is allowed. */
WG_API WG_MUST_CHECK wg_status wg_model_new(wg_tape *t, wg_model **out);
WG_API void wg_model_free(wg_model *m);

/* ---- nodes ------------------------------------------------------------------------------ */

/* A dimension of a matrix. Where dimensions meet in an operation they have to be of one size
 * and one name; without a name (NULL) one goes with any. */
typedef struct wg_dim {
    const char *name;
    size_t size;
} wg_dim;

/* wg_model_placeholder - flags: WG_SHARED: one value for all points; WG_PASSIVE: data, not
 * differentiated. sample: rows*cols values to record with, column after column; NULL: zeros.
 * Errors of this and all below: WG_ENULL, WG_EARG: flags, or a name that is taken or no word or
 * of more than 4096 bytes; WG_ESTALE; those of wg_mat_input. */
#define wg_model_placeholder(...) wgi_model_placeholder_at(__FILE__, __LINE__, __VA_ARGS__)
WGI_API wg_mat wgi_model_placeholder_at(const char *file, int line, wg_model *m,
                                        const char *name, wg_dim rows, wg_dim cols,
                                        unsigned flags, const double *sample);

/* What a variable is at first. */
typedef struct wg_initial {
    int kind; /* WGI_INITIAL_... */
    double a, b;
    uint64_t seed;
    const double *values;
} wg_initial;
enum { WGI_INITIAL_FILL, WGI_INITIAL_VALUES, WGI_INITIAL_UNIFORM, WGI_INITIAL_NORMAL };

/* wg_initial_fill - all entries a.   wg_initial_values - those, copied, column after column.
 * wg_initial_uniform - between low and high.   wg_initial_normal - with mean and deviation.
 * The same seed gives the same numbers. What is wrong is said where a variable is made. */
static inline wg_initial wg_initial_fill(double a) {
    wg_initial i = {WGI_INITIAL_FILL, 0, 0, 0, WGI_NULL};
    i.a = a;
    return i;
}
static inline wg_initial wg_initial_values(const double *values) {
    wg_initial i = {WGI_INITIAL_VALUES, 0, 0, 0, WGI_NULL};
    i.values = values;
    return i;
}
static inline wg_initial wg_initial_uniform(uint64_t seed, double low, double high) {
    wg_initial i = {WGI_INITIAL_UNIFORM, 0, 0, 0, WGI_NULL};
    i.seed = seed;
    i.a = low, i.b = high;
    return i;
}
static inline wg_initial wg_initial_normal(uint64_t seed, double mean, double deviation) {
    wg_initial i = {WGI_INITIAL_NORMAL, 0, 0, 0, WGI_NULL};
    i.seed = seed;
    i.a = mean, i.b = deviation;
    return i;
}

/* wg_model_variable - one value for all points. It is initialised, and recorded with that.
 * Errors:  also WG_ENULL: values; WG_EARG: low > high, a difference of both that is not finite,
 *          a mean that is not finite, a deviation that is negative or not finite. */
#define wg_model_variable(...) wgi_model_variable_at(__FILE__, __LINE__, __VA_ARGS__)
WGI_API wg_mat wgi_model_variable_at(const char *file, int line, wg_model *m, const char *name,
                                     wg_dim rows, wg_dim cols, wg_initial initial);

/* wg_model_op(m, f, a), (m, f, a, b), (m, f, a, b, c) - f(t, a, b, c) as a node, which gets the
 * name of f and a number. Before that dimensions are checked, of elementwise operations,
 * wg_matmul, wg_solve, wg_solve_spd, inverses, flips and copies: the message names the
 * operation, its place, all dimensions, and the two that differ. Axes of the result follow.
 * Other operations are done as they are: name their axes with wg_model_name.
 * Errors:  WG_ESHAPE; those of f. */
#define wg_model_op(m, f, ...)                                                                 \
    WGI_MODEL_PICK(__VA_ARGS__, wgi_model_op3_at, wgi_model_op2_at, wgi_model_op1_at, 0)       \
    (__FILE__, __LINE__, m, #f, f, __VA_ARGS__)
#define WGI_MODEL_PICK(a, b, c, pick, ...) pick
typedef wg_mat wgi_model_f1(wg_tape *t, wg_mat a);
typedef wg_mat wgi_model_f2(wg_tape *t, wg_mat a, wg_mat b);
typedef wg_mat wgi_model_f3(wg_tape *t, wg_mat a, wg_mat b, wg_mat c);
WGI_API wg_mat wgi_model_op1_at(const char *file, int line, wg_model *m, const char *name,
                                wgi_model_f1 *f, wg_mat a);
WGI_API wg_mat wgi_model_op2_at(const char *file, int line, wg_model *m, const char *name,
                                wgi_model_f2 *f, wg_mat a, wg_mat b);
WGI_API wg_mat wgi_model_op3_at(const char *file, int line, wg_model *m, const char *name,
                                wgi_model_f3 *f, wg_mat a, wg_mat b, wg_mat c);

/* wg_model_name - makes any matrix of the tape a node, constants too; or gives a node another
 * name, or axes. name NULL: made up, or as it is; an axis NULL: as it is. Placeholders and
 * variables keep their names.   Gives a. */
#define wg_model_name(...) wgi_model_name_at(__FILE__, __LINE__, __VA_ARGS__)
WGI_API wg_mat wgi_model_name_at(const char *file, int line, wg_model *m, wg_mat a,
                                 const char *name, const char *rows, const char *cols);
/* wg_model_tag - one more tag for a node.   Errors: WG_ENULL; WG_EARG: no node; WG_ENOMEM. */
WG_API wg_status wg_model_tag(wg_model *m, wg_mat a, const char *tag);

/* ---- nodes from nodes ------------------------------------------------------------------- */

/* On the tape what these give stands as an input with the value at the recorded point: sweeps
 * of the tape end there, computations and wg_model_gradient do not. */

/* wg_model_sum - the sum of a node over the points of a run; of a node that is one number for
 * all points, that number times how many points there are. */
#define wg_model_sum(...) wgi_model_sum_at(__FILE__, __LINE__, __VA_ARGS__)
WGI_API wg_mat wgi_model_sum_at(const char *file, int line, wg_model *m, wg_mat a);

/* wg_model_gradient - dx[i] = dy/dx[i], nodes of the shapes and axes of x[i], 0 where y does
 * not depend on it. Named dy/dx. They can be differentiated again.
 * Shapes:  y 1-by-1; x: n placeholders or variables.
 * Errors:  also returned; WG_EARG: x[i] is none, WG_PASSIVE, or there twice; those of
 *          wg_function_extract and wg_function_gradient: WG_EMODE where y is not linear in a
 *          sum over points that depends on x; a Hessian times a fed vector can be had. */
#define wg_model_gradient(...) wgi_model_gradient_at(__FILE__, __LINE__, __VA_ARGS__)
WGI_API wg_status wgi_model_gradient_at(const char *file, int line, wg_model *m, wg_mat y,
                                        size_t n, const wg_mat *x, wg_mat *dx);

/* ---- searching and printing ------------------------------------------------------------- */

enum { WG_PLACEHOLDER = 1, WG_VARIABLE = 2, WG_CONSTANT = 4, WG_OPERATION = 8 };

typedef struct wg_node {
    unsigned kind;
    const char *name, *operation; /* operation: as in wg_model_op, or of the tape, or "" */
    wg_dim rows, cols;
    const char *file; /* where it was made */
    int line;
} wg_node;
/* wg_model_node - what a node is; the texts live as long as the model.
 * Errors: WG_ENULL; WG_EARG: no node. */
WG_API WG_MUST_CHECK wg_status wg_model_node(wg_model *m, wg_mat a, wg_node *out);

/* wg_model_find - nodes of these kinds, with that name, with that tag (NULL: any), which y
 * depends on (NULL: all; y itself is not among them), in the order of their making: the first
 * `room` of them. Gives how many there are; 0 also when something fails, with a message. */
WG_API size_t wg_model_find(wg_model *m, unsigned kinds, const char *name, const char *tag,
                            const wg_mat *y, size_t room, wg_mat *out);

/* wg_model_print - one line per node: name, operation and what it is made from, dimensions,
 * tags, place.  wg_model_dot - the same as a Graphviz digraph.
 * Errors: WG_ENULL, WG_EWRITE, WG_ESTALE, WG_ENOMEM. */
WG_API WG_MUST_CHECK wg_status wg_model_print(wg_model *m, wg_write *write, void *ctx);
WG_API WG_MUST_CHECK wg_status wg_model_dot(wg_model *m, wg_write *write, void *ctx);

/* ---- computations ----------------------------------------------------------------------- */

/* wg_model_update - a computation that has the node `next` among its outputs changes the
 * variable to its value, after all else is done. It may not be one per point. A node updates
 * one variable: a later call takes the place of an earlier one.
 * Order:   everything in a run reads variables as they were before it; what is to follow an
 *          update takes `next` in place of the variable. No other order can be told apart.
 * Errors:  WG_ENULL; WG_EARG: no variable, no node; WG_ESHAPE: other dimensions; WG_ESTALE. */
WG_API wg_status wg_model_update(wg_model *m, wg_mat variable, wg_mat next);

/* wg_model_function - the computation of the nodes y: a function of the placeholders and
 * variables that they depend on, by their names; outputs have the names of the nodes.
 * Errors:  WG_EARG: no node, a node twice; WG_ESTALE; those of wg_function_extract and
 *          wg_function_compose. */
WG_API WG_MUST_CHECK wg_status wg_model_function(wg_model *m, size_t count, const wg_mat *y,
                                                 wg_function **out);

/* wg_model_feed - where the numbers of a placeholder stand from now on, as in wg_points. They
 * are not copied.   Errors: WG_ENULL; WG_EARG: no placeholder. */
WG_API wg_status wg_model_feed(wg_model *m, wg_mat placeholder, const double *data,
                               ptrdiff_t point, ptrdiff_t entry);

/* wg_model_run - evaluates a computation, or anything made from computations whose inputs have
 * the names of placeholders and variables, at `points` points.
 * y:       one per output, those of updates are not looked at; NULL: no results but updates.
 *          Without points variables stay as they are, but for updates by sums, which are 0.
 * threads: as in wg_function_evaluate.
 * Errors:  WG_ENULL; WG_EARG: a placeholder that is not fed, an input that is neither, two
 *          updates of one variable; WG_ESHAPE; WG_EGUARD: the message says where; WG_ENOMEM.
 * Variables are as before then. */
WG_API WG_MUST_CHECK wg_status wg_model_run(wg_model *m, const wg_function *f, size_t points,
                                            const wg_results *y, wg_threads *threads);

/* ---- variables -------------------------------------------------------------------------- */

/* wg_model_values - the values of a variable, column after column, to read and to write.
 * NULL: no variable. */
WG_API double *wg_model_values(wg_model *m, wg_mat variable);
/* wg_model_initialise - all variables become what they were at first. */
WG_API wg_status wg_model_initialise(wg_model *m);

/* wg_model_save - all variables: names, shapes, values to the last bit. The same on every
 * machine. wg_write_file for a FILE *.   Errors: WG_ENULL, WG_EWRITE.
 * wg_model_restore - into a model with the same variables, in any order. Nothing after the end
 * is taken; nothing is believed before all was read and checked.
 * Errors:  WG_ENULL, WG_ENOMEM; WG_EARG: no such file, a damaged one, a variable too many or
 *          missing; WG_ESHAPE: one of another shape; the message says which. Variables are as
 *          before then. */
WG_API WG_MUST_CHECK wg_status wg_model_save(wg_model *m, wg_write *write, void *ctx);
WG_API WG_MUST_CHECK wg_status wg_model_restore(wg_model *m, wg_read *read, void *ctx);

WG_END_DECLS

#endif
