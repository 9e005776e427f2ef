/* SPDX-License-Identifier: MIT */
/* Functions as files, as text, and as pictures.
 *
 * A file holds all that a function is: arguments, numbers to the last bit, operations by their
 * names. It is the same on every machine. What is loaded gives the same bits as what was saved,
 * and is saved as the same bytes, but that operations get the names they have now: those they
 * had before are read. A file has the first version that knows all that is in it, which every
 * later version of the library reads: functions without loops and operations on whole matrices
 * (function.h) are files of version 1; loops, products, factorisations and solves as a whole
 * make them files of version 2, other operations on whole matrices of version 3. */
#ifndef WENGERT_FILE_H
#define WENGERT_FILE_H

#include <wengert/function.h>

WG_BEGIN_DECLS

struct wg_scalar_op; /* operation.h */

/* wg_function_save  - the bytes of the file into a buffer. *needed: how many they are, always
 *                     set; a NULL buffer only asks for it.
 * wg_function_write - the same to wherever write puts them: wg_write_file for a FILE *.
 * Errors:  WG_ENULL; WG_ESHAPE: the buffer is too small, and left as it was; WG_EARG: the name
 *          of a user's operation is not one word of at most 255 bytes, or that of another one
 *          with other texts; it has more than 256 of these; loops are more than 16 deep in each
 *          other, or an argument has 2^30 rows or columns; WG_EMODE: it calls functions of the
 *          user's (wg_mat_map, wg_symmetric_apply), which are addresses (but wg_mat_apply_scalar
 *          takes an operation by its name); WG_EWRITE. */
WG_API WG_MUST_CHECK wg_status wg_function_save(const wg_function *f, void *buffer,
                                                size_t bytes, size_t *needed);
WG_API WG_MUST_CHECK wg_status wg_function_write(const wg_function *f, wg_write *write,
                                                 void *ctx);

/* Where bytes come from: gives how many there were, fewer than asked for only at the end. It
 * does not use the tape of the call, or of the model: as a wg_write. */
typedef size_t wg_read(void *ctx, void *data, size_t bytes);
/* wg_read_file - a wg_read for a FILE *, given as ctx. */
WG_API size_t wg_read_file(void *file, void *data, size_t bytes);

/* wg_function_load - the function that these bytes are.
 * wg_function_read - the same from wherever read takes them; nothing after its end is taken, so
 *                    that several can stand in one file.
 * t:       a tape, as workspace and for messages; left empty, as by a driver.
 * user:    operations of the user's own (WG_OPERATION1(name, ...) makes wgi_user_name), which
 *          are known by their names; more than needed do no harm, of several of one name the
 *          first is taken.
 * Trust:   a file may be cut short, damaged or made to do harm: it is looked through before it
 *          is believed, and takes memory in proportion to its own bytes. What it does with
 *          its points may be many steps all the same, and a product of a column and a row has
 *          many elements: wg_function_work tells what they take. Derivatives, and C text that
 *          is compiled elsewhere (emit.h, Stack), take memory for all of them: ask that first,
 *          and give the tape a budget.
 * Errors:  WG_ENULL; WG_EARG: no function of this version, or a damaged one: the message says
 *          what is wrong, and at which byte; WG_EMODE: an operation that is neither built in
 *          nor given: the message names it; WG_ENOMEM, WG_EBUDGET. *out is NULL then. */
WG_API WG_MUST_CHECK wg_status wg_function_load(wg_tape *t, const void *data, size_t bytes,
                                                const struct wg_scalar_op *const *user,
                                                size_t user_count, wg_function **out);
WG_API WG_MUST_CHECK wg_status wg_function_read(wg_tape *t, wg_read *read, void *ctx,
                                                const struct wg_scalar_op *const *user,
                                                size_t user_count, wg_function **out);

/* wg_function_dump - one line per input, operation, comparison and entry of the outputs.
 * wg_function_dot  - the same as a Graphviz digraph: what is done once, at each point and on
 *                    sums in a cluster each.   Errors: WG_ENULL, WG_EWRITE.
 * A loop is one operation, t8, and t8[3] one of its results; what it does in a step stands
 * below, as a function of its own. An operation on whole matrices is one, too, with its sizes
 * and its first operands: t9 = product(20x3x30)(x[0], ...). ", rule": it is 0 where a
 * derivative among its operands is 0. */
WG_API WG_MUST_CHECK wg_status wg_function_dump(const wg_function *f, wg_write *write,
                                                void *ctx);
WG_API WG_MUST_CHECK wg_status wg_function_dot(const wg_function *f, wg_write *write,
                                               void *ctx);

WG_END_DECLS

#endif
