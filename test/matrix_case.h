/* SPDX-License-Identifier: MIT */
/* matrix_case.h - the cases of test/data/matrix_ops.txt, each checked in every mode.
 *
 *     static void trace(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
 *                       void *data) {
 *         out[0] = matrix_case_scalar(t, wg_trace(t, in[0]));
 *     }
 *     static void check_trace(struct matrix_case *c) { matrix_case_check(c, trace, NULL); }
 *     ... matrix_case_each("trace", check_trace);
 *
 * Arrays of the file are row-major; here they are column-major, ld = rows:
 *     no dimension: 1 x 1;  n: n x 1;
 *     d0 d1 d2: d1 x (d2 d0), column j + d2 b;
 *     d0 d1 d2 d3: d1 x (d2 d3 d0), column k + d2 (l + d3 b).
 * The first of three or four dimensions counts a batch, whose members stand side by side. */
#ifndef WENGERT_TEST_MATRIX_CASE_H
#define WENGERT_TEST_MATRIX_CASE_H

#include <wengert.h>
#include <wengert/matrix.h>
#include "oracle_text.h"

/* A matrix operation against its oracle, in units of DBL_EPSILON times the largest entry of the
 * array: sums of some ten products, three or four operations deep. */
#define TOL_MATRIX_ULP 64.0

enum { MATRIX_CASE_ARRAYS = 8, MATRIX_CASE_LIST = 64 };

struct matrix_array {
    const char *key; /* NULL: there is no such array */
    size_t rows, cols, dims, dim[4];
    double *v;
};

struct matrix_case {
    const char *name, *variant;
    size_t ins, outs;
    /* in[i] and grad[i], out[k] and adj[k] belong together. No grad: in[i] is a constant. */
    struct matrix_array in[MATRIX_CASE_ARRAYS], grad[MATRIX_CASE_ARRAYS];
    struct matrix_array out[MATRIX_CASE_ARRAYS], adj[MATRIX_CASE_ARRAYS];
    double ulps;   /* the tolerance, in units of DBL_EPSILON times the largest entry of the
                      array; TOL_MATRIX_ULP, raised by a test that knows why */
    size_t number; /* of the case in the file */
    struct oracle_case text;
};

/* Calls check for every case of that operation; fails when there is none. */
void matrix_case_each(const char *name, void (*check)(struct matrix_case *c));

/* A parameter; missing: the test fails. matrix_case_word: its text, blanks and all. */
double matrix_case_number(const struct matrix_case *c, const char *key);
size_t matrix_case_size(const struct matrix_case *c, const char *key);
const char *matrix_case_word(const struct matrix_case *c, const char *key);
/* A list (`param KEY[] N ...`), key without the brackets: its length, the entries in list. */
size_t matrix_case_list(const struct matrix_case *c, const char *key,
                        double list[MATRIX_CASE_LIST]);
size_t matrix_case_sizes(const struct matrix_case *c, const char *key,
                         size_t list[MATRIX_CASE_LIST]);

/* Records the operation: in has c->ins matrices in the order of the file, out gets c->outs. */
typedef void matrix_case_record(wg_tape *t, const struct matrix_case *c, const wg_mat *in,
                                wg_mat *out, void *data);

/* Checks the case and counts it as claimed: values; adjoints of one sweep seeded with `adj`
 * against `grad`; three lanes at once; each input alone a variable; a forward tape, by
 * <adj, J v> = <grad, v>; a paused tape; a replay at these inputs of a recording at others; all
 * that for inputs that are blocks and transposed blocks of larger matrices; the same twice on
 * one tape after a reset. */
void matrix_case_check(struct matrix_case *c, matrix_case_record *record, void *data);

/* A case of one's own: random inputs in [-1, 1] of those shapes (symmetric: A = A^T), results
 * and gradients by `reference`, which may record element by element. */
struct matrix_shape {
    size_t rows, cols;
    int symmetric;
};
struct matrix_case *matrix_case_make(const char *name, size_t ins,
                                     const struct matrix_shape *in, size_t outs,
                                     matrix_case_record *reference, void *data);
void matrix_case_free(struct matrix_case *c);
/* Makes one, checks `record` against `reference`, frees it. */
void matrix_case_compare(const char *name, size_t ins, const struct matrix_shape *in,
                         size_t outs, matrix_case_record *record, matrix_case_record *reference,
                         void *data);

/* A scalar result as a 1 x 1 matrix. */
wg_mat matrix_case_scalar(wg_tape *t, wg_real x);

/* Of matrix_claims.h: every case a program claims has been checked by this program; every case
 * of the file is claimed once, and every claim is of some case. */
void matrix_claims_met(const char *program);
void matrix_claims_complete(void);

/* The status, with a text in the message; the tape works again after a rewind. */
#define MATRIX_REFUSED(t, status, text, ...)                                                   \
    do {                                                                                       \
        const wg_mark before = wg_tape_mark(t);                                                \
        (void)(__VA_ARGS__);                                                                   \
        assert_int_equal(wg_tape_status(t), status);                                           \
        if (strstr(wg_tape_message(t), text) == NULL)                                          \
            fail_msg("\"%s\" is not in \"%s\"", text, wg_tape_message(t));                     \
        assert_int_equal(wg_tape_rewind(t, before), WG_OK);                                    \
        assert_int_equal(wg_tape_status(t), WG_OK);                                            \
    } while (0)

#endif
