/* SPDX-License-Identifier: MIT */
/* internal.h - a grid from inside, ScaLAPACK's functions, and the parts of matrices that
 * they take. */
#ifndef WENGERT_SCALAPACK_INTERNAL_H
#define WENGERT_SCALAPACK_INTERNAL_H

#include "wengert/scalapack.h"
#include <stdint.h>

/* ---- ScaLAPACK, which has no header of its own ------------------------------------------- */

/* How a matrix lies on the grid, as descinit makes it. */
typedef struct wgi_desc {
    int d[9];
} wgi_desc;

int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
void Cblacs_gridinfo(int context, int *rows, int *cols, int *row, int *col);
void Cblacs_gridexit(int context);

/* PBLAS, in C; */
void pdgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *da,
             const double *b, const int *ib, const int *jb, const int *db, const double *beta,
             double *c, const int *ic, const int *jc, const int *dc);
void pdsyr2k_(const char *uplo, const char *trans, const int *n, const int *k,
              const double *alpha, const double *a, const int *ia, const int *ja, const int *da,
              const double *b, const int *ib, const int *jb, const int *db, const double *beta,
              double *c, const int *ic, const int *jc, const int *dc);
void pdtran_(const int *m, const int *n, const double *alpha, const double *a, const int *ia,
             const int *ja, const int *da, const double *beta, double *c, const int *ic,
             const int *jc, const int *dc);
/* and in Fortran: behind the arguments the lengths of texts. */
void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
              const int *da, int *info, size_t one);
void pdpotrs_(const char *uplo, const int *n, const int *k, const double *a, const int *ia,
              const int *ja, const int *da, double *b, const int *ib, const int *jb,
              const int *db, int *info, size_t one);
void pdpotri_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
              const int *da, int *info, size_t one);

/* ---- the grid ---------------------------------------------------------------------------- */

typedef enum wgi_scalapack_call {
    WGI_SCALAPACK_GEMM,
    WGI_SCALAPACK_DOT,
    WGI_SCALAPACK_SOLVE,
    WGI_SCALAPACK_CALLS
} wgi_scalapack_call;

struct wg_scalapack {
    MPI_Comm comm; /* of agreements and sums; BLACS has its own */
    int handle, context;
    int rows, cols, row, col;
    int inside; /* did the value of the operation begin? */
    char message[256];
};

/* Bits of what ranks have: one of them is enough. */
enum { WGI_FIRST = 1, WGI_SECOND = 2, WGI_ANY = 4, WGI_BITS = 3 };

/* All ranks: is every status WG_OK, are all in this call, with this detail? *bits: those of
 * all. */
wg_status wgi_scalapack_agree(wg_scalapack *g, wg_status s, wgi_scalapack_call call,
                              uint64_t detail, unsigned *bits);
static inline uint64_t wgi_scalapack_mix(uint64_t detail, uint64_t word) {
    detail = (detail ^ word) * 0x9e3779b97f4a7c15;
    return detail ^ detail >> 29;
}
/* wg_apply; where its value was not come to, the agreement that others are in is joined. */
wg_status wgi_scalapack_apply(wg_tape *t, wg_scalapack *g, const wg_block_op *op,
                              const void *params, size_t bytes, wgi_scalapack_call call,
                              size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out);
/* What is wrong with the arguments of a call: the tape keeps it, and other ranks are told. */
wg_status wgi_scalapack_refuse(wg_tape *t, wg_scalapack *g, wg_status s, const char *name,
                               const char *why, wgi_scalapack_call call);
/* Why these two cannot be operands of one operation; NULL: they can. */
const char *wgi_scalapack_odd(wg_scalapack_mat a, wg_scalapack_mat b, wg_status *s);
/* x of n numbers becomes the sum over all ranks, the same bits on all. */
wg_status wgi_scalapack_sum(wg_scalapack *g, double *x, int n);
/* The sum over all ranks of x, 1 by 1, on a forward tape. */
wg_real wgi_scalapack_total(wg_tape *t, wg_scalapack *g, wg_mat x);
/* The end of a function of an operation: its failure is the block's. */
static inline wg_status wgi_scalapack_done(const wg_scalapack *g, wg_block *b, wg_status s) {
    if (s != WG_OK) b->why = g->message;
    return s;
}

/* ---- parts of matrices ------------------------------------------------------------------- */

/* What an operation gives that has failed. */
wg_scalapack_mat wgi_scalapack_failed(wg_scalapack *g, size_t rows, size_t cols, size_t block);

/* Of rows by cols, with a part whose columns are ld apart. */
wgi_desc wgi_scalapack_desc(const wg_scalapack *g, size_t rows, size_t cols, size_t block,
                            size_t ld);
/* How many numbers a part has. */
static inline size_t wgi_scalapack_size(const wg_block_arg *a) { return a->rows * a->cols; }

/* to = lane l of the bar of a part, columns side by side; 0 without a bar. */
void wgi_scalapack_take(const wg_block_arg *a, size_t lanes, size_t l, double *to);
/* Lane l of the bar += from, or = from. Without a bar: nothing. */
void wgi_scalapack_add(const wg_block_arg *a, size_t lanes, size_t l, const double *from);
void wgi_scalapack_put(const wg_block_arg *a, size_t lanes, size_t l, const double *from);
/* Is there an adjoint other than 0? */
int wgi_scalapack_any(const wg_block_arg *a, size_t lanes);

#endif
