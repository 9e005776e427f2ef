/* SPDX-License-Identifier: MIT */
/* Block operations: an operation on whole matrices, with its derivative, as one record.
 *
 * The built-in matrix operations and a user's own are the same thing: a wg_block_op, applied
 * with wg_apply. An operation is mathematics on plain arrays: it sees the wg_block of one call,
 * obtains no memory, and knows of no tape. `value` and `vjp` are enough; with `jvp` tangents
 * cost less. wg_check_op tells whether they agree.
 *
 * Matrices are column-major, with a leading dimension. */
#ifndef WENGERT_BLOCK_H
#define WENGERT_BLOCK_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

/* A matrix variable: a view of values in the arena and of the slots beside them. Copied freely
 * with `=`; a vector is a matrix with one column. Element (i, j) is value[i + j ld], in a
 * transposed view value[j + i ld]; slots run alike. */
typedef struct wg_mat {
    const double *value; /* of element (0, 0); NULL: what a failed call gives, all NaN */
    size_t rows, cols, ld;
    wg_handle at;   /* of element (0, 0); slot 0: a constant */
    unsigned trans; /* 1: a transposed view */
} wg_mat;

/* An operand or result of an operation, as the operation sees it: element (i, j) is at
 * [i + j ld], in a transposed operand at [j + i ld]. Only operations with WG_OP_TRANS meet
 * transposed operands; results never are. ld is at least 1.
 * bar: vjp: the adjoint, to be added to (operands) or read (results); jvp: the tangent, to be
 * read (operands) or overwritten (results). Operands without one (NULL) are constants: nothing
 * is wanted. Adjoints of two operands may overlap. A result's is never NULL. */
typedef struct wg_block_arg {
    size_t rows, cols, ld, bar_ld;
    unsigned trans;
    double *value;
    double *bar;
} wg_block_arg;

/* One call of an operation. */
typedef struct wg_block {
    const void *params; /* of the call: as given to wg_apply, copied into the arena */
    size_t inputs, outputs;
    wg_block_arg *in, *out;
    void *saved;                    /* what value leaves for vjp and jvp */
    void *work;                     /* free to use in every function; contents are lost */
    size_t saved_bytes, work_bytes; /* set by shape; 0 before */
    int info;                       /* of LAPACK, for the message of a failure */
    const char *why;                /* a text for that message, or NULL */
    size_t lanes;                   /* of a WG_OP_ALWAYS; otherwise 1 */
    unsigned untouched; /* vjp of a WG_OP_ALWAYS: bit i says that the adjoint of operand i is
                           0 everywhere, and may be overwritten; without it nothing is known */
} wg_block;

enum {
    WG_OP_TRANS = 1,     /* takes transposed operands; otherwise they are copied before */
    WG_OP_ZERO_RULE = 2, /* keeps the zero rule per element; otherwise a call of vjp with all
                            adjoints 0 is left out */
    WG_OP_MOVES = 4,  /* every element of a result is one of an operand, or a constant, whatever
                         their values, and vjp moves adjoints back: functions need no expand then */
    WG_OP_LINEAR = 8, /* the results are linear in all operands together (sparsity.h) */
    WG_OP_EACH = 16,  /* element (i, j) of a result depends on none but element (i, j) of each
                         operand, or that of its only row or column (sparsity.h) */
    WG_OP_EXPANDS = 32, /* expand is the truth, and vjp and jvp a faster form of its derivative:
                          functions and second derivatives may go by expand alone */
    WG_OP_ALWAYS = 64   /* it reaches beyond the tape, see below */
};

/* WG_OP_ALWAYS is for an operation whose other end is elsewhere, as that of a message to
 * another process is. A call is recorded whatever its operands are, if there are any; it has at
 * least one element of a result. Every sweep that passes it calls vjp, or jvp, whatever the
 * adjoints are, and once for all lanes: element (i, j) of a bar is then b->lanes numbers, from
 * bar[(i + j bar_ld) lanes] on. While there is one on a tape, sweeps from a root begin at the
 * end of the tape and also go without a root, so that both ends do the same. wg_tape_hvp calls
 * vjp, jvp, and vjp again, of those that are WG_OP_LINEAR and WG_OP_EXPANDS, which says here
 * that the Jacobian does not change with the operands; of others `adjoint`, on a forward tape,
 * whatever the adjoints are. What sees one tape only is refused by name (WG_EMODE): functions,
 * patterns, other second derivatives, preaccumulation, wg_implicit, and steps of wg_checkpoint
 * without WG_REGION_ALWAYS (map.h). */

/* An operation. Functions return WG_OK, or a status with b->info or b->why set. None of them
 * records on, resets or rewinds the tape that it is a record of, which is found and refused
 * (WG_EMODE): expand and adjoint are given another.
 * shape   rows, cols of every result, saved_bytes and work_bytes, from rows, cols of the
 *         operands and params; no values are there yet. WG_ESHAPE: the message names all
 *         operand shapes.
 * value   results from operands; may leave what it likes in saved. WG_ESINGULAR, ...
 * vjp     bar of in += J' bar of out; reads values, results and saved; changes neither. The tape
 *         it is swept on is closed meanwhile: calls on it give WG_EMODE, and so does the sweep
 *         where it would be reset or rewound, which is not done. NULL: on forward tapes with
 *         jvp, and where nothing is recorded.
 * jvp     bar of out = J bar of in. NULL: on forward tapes by vjp, one call for each element of
 *         the results.
 * expand  the same in scalar statements on t: y, the elements of all results, from x, those of
 *         all operands, matrix after matrix and column after column. Shapes and the values of
 *         operands stand in b; there is no workspace. NULL: not in functions, no second
 *         derivatives. They know the derivatives of what is recorded here, and nothing of those
 *         of vjp: without WG_OP_EXPANDS, which says that it is the same, vjp may be a
 *         derivative of its own, as of a clipped or reversed gradient, and the operation is
 *         refused there, by name (WG_EMODE). wg_check_op looks whether it is the same.
 * adjoint vjp once more, in operations on matrices on t, which know their own derivatives:
 *         back[i], the adjoint of operand i, from operands, results and the adjoints `bar` of
 *         results. All of them have values; those that are variables have slots. An operand
 *         without one is a constant: its back is not looked at. back[i] left as it is: 0; a
 *         failed matrix (wg_mat_failed): it is not known, and second derivatives are refused
 *         that need it. Parameters, shapes and what value has saved stand in b. Gives the
 *         status of t, or one with b->why set. Second derivatives of tapes go by it
 *         (wg_tape_hvp), at the speed of matrices; NULL: they go
 *         by vjp if it is WG_OP_LINEAR or WG_OP_MOVES and WG_OP_EXPANDS says that vjp is the
 *         derivative, by expand otherwise. wg_check_op looks whether it is the same.
 * traits  NULL in a user's operation: the library's own say here how they are split into sparse
 *         parts and how they become parts of functions. */
typedef struct wg_block_op {
    const char *name; /* as users call it */
    unsigned flags;
    wg_status (*shape)(wg_block *b);
    wg_status (*value)(wg_block *b);
    wg_status (*vjp)(wg_block *b);
    wg_status (*jvp)(wg_block *b);
    wg_status (*expand)(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y);
    wg_status (*adjoint)(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back);
    const struct wgi_traits *traits;
} wg_block_op;

/* A Jacobian: j[r + c n] = d (element r of result `out`) / d (element c of operand `in`),
 * elements counted column after column, n those of the result. j is 0 before. */
typedef wg_status wg_jacobian_fn(wg_block *b, size_t out, size_t in, double *j);

/* wg_vjp_by_jacobian, wg_jvp_by_jacobian - for an operation that knows its Jacobian rather than
 * products with it: its vjp and jvp call these. They work in b->work: shape sets work_bytes to
 * wg_jacobian_work(b) after the shapes of the results.
 * Cost:    a dense product for every pair of a result and an operand that is a variable. */
WG_API size_t wg_jacobian_work(const wg_block *b);
WG_API wg_status wg_vjp_by_jacobian(wg_block *b, wg_jacobian_fn *jacobian);
WG_API wg_status wg_jvp_by_jacobian(wg_block *b, wg_jacobian_fn *jacobian);

/* wg_apply - out = op(in). Appends one record when an operand is a variable, or by
 * WG_OP_ALWAYS; otherwise the results are constants.
 * Shapes:  in of `inputs`, out of `outputs` (at most 16 each); params: `bytes` of any data,
 *          copied. What params point to has to live as long as the recording (wg_tape_keep).
 * Cost:    the operation's; no allocation in a steady state.
 * Errors:  returned, and kept by the tape; then the results are NaN: WG_ENULL, WG_ESHAPE,
 *          WG_ESTALE, WG_ENOMEM, WG_EBUDGET, WG_ESLOTS; what the operation returned. */
WG_API wg_status wg_apply(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                          size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out);

/* wg_block_value - an operation of the library on plain arrays, as text of wg_function_emit
 * calls it: y, the elements of all results, from x, those of all operands and then its
 * parameters, matrix after matrix and column after column. It is known by its name, and m, n, k
 * are the sizes of its matrices, 0 where it has none of that letter; ops/matrix/whole.h says
 * which are which. Results are NaN where the operation refuses, and nothing happens to them if
 * there is none of that name.
 * work:    as many doubles as the text has for it, 64-byte aligned. Any number of threads. */
WG_API void wg_block_value(const char *name, size_t m, size_t n, size_t k, const double *x,
                           double *y, double *work);

/* wg_tape_keep - memory in the arena that lives until the tape is reset, or rewound to before
 * this call; 32-byte aligned; a copy of `data` unless that is NULL. NULL: a failure, kept by
 * the tape; or bytes = 0. */
WG_API void *wg_tape_keep(wg_tape *t, size_t bytes, const void *data);

/* A matrix of NaN, what a recording call gives after a failure. */
static inline wg_mat wg_mat_failed(size_t rows, size_t cols) {
    wg_mat a = {WGI_NULL, rows, cols, rows != 0 ? rows : 1, {0, 0}, 0};
    return a;
}

WG_END_DECLS

#endif
