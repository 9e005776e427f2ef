/* SPDX-License-Identifier: MIT */
/* Routines of BLAS and LAPACK that are called with arrays of variables: their arguments, and
 * how calls are written (wengert/blas.h). */
#ifndef CONVERT_ROUTINES_H
#define CONVERT_ROUTINES_H

#include "convert/writer.h"

typedef struct routine_row {
    const char *name;
    /* a letter for each argument of CBLAS, LAPACKE: o order, f flag, n size or increment, a
     * number that may be a variable, A array that is read, B one that is written to, i
     * integers */
    const char *arguments;
    const char *more; /* what follows in Fortran: w work space, l its length */
    char result;      /* r number, i integer, s status, 0 none */
    bool each_way;    /* what is written depends on all arrays, not only on those before it */
    /* How adjoints go back: s sums of an array, p product, q of a matrix with itself, m in place,
     * d division in place, f factors, v factors and a solution, c copies; 0: there is none */
    char back;
    /* Of each B the arguments, from 1, that say how many rows and columns it has; one: of a
     * vector; t: of a product with op(A) */
    const char *lengths;
} routine_row;

/* A call of one; NULL: it is not. *fortran: by its Fortran name, arguments by pointers. */
const routine_row *routine_called(const node *call, bool *fortran);
/* Is it one of BLAS or LAPACK for doubles, known or not, by its name? */
bool is_routine_name(const char *name);
/* The letter of argument i, from 1; 0 behind the last one. */
char routine_argument(const routine_row *r, bool fortran, size_t i);

/* Who is written with variables, and all that follows for others. */
bool routine_varies(const version *v, const node *call, const routine_row *r, bool fortran);
bool force_routines(const analysis *a);
cell *call_routine(analysis *a, version *v, const node *call, const routine_row *r,
                   bool fortran);
const char *write_routine(writer *w, const node *call, const routine_row *r, bool fortran);

#endif
