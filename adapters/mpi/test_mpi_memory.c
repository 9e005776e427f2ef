/* SPDX-License-Identifier: MIT */
/* test_mpi_memory.c - memory that one rank has not. Each call, with its sweeps, is made with
 * the k-th request for memory refused on the last rank, k = 0, 1, ..., until there are no more:
 * those of the library, and those of the tape. Every rank has a status, and then the
 * communicator is as good as new. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ranks.h"
#include "test/counted.h"
#include "test/sanitized.h"
#include <stdlib.h>

enum { SOME = 777, FEW = 3, LANES = 3, MOST = 400 };

/* ---- requests --------------------------------------------------------------------------- */

static size_t requests, refused_at = SIZE_MAX, refused;

#if !SANITIZED
/* Of this program, which the library is a part of; MPI is not. */
extern char __executable_start[], etext[];
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *p, size_t n);

static int is_refused(const void *caller) {
    const uintptr_t at = (uintptr_t)caller;
    if (at < (uintptr_t)__executable_start || at >= (uintptr_t)etext) return 0;
    const int is = requests++ == refused_at;
    refused += (size_t)is;
    return is;
}
void *malloc(size_t n) {
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t bytes) {
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}
void *realloc(void *p, size_t n) {
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}
#endif

static struct counted count; /* of the tape */

enum whose { THE_TAPES, THE_LIBRARYS };
static void refuse(enum whose whose, size_t k) {
    count.refused = refused = 0;
    if (whose == THE_TAPES) count.fail_at = count.asked + k;
    else refused_at = requests + k;
}
/* How many were refused here. */
static size_t refuse_no_more(void) {
    count.fail_at = refused_at = SIZE_MAX;
    return count.refused + refused;
}

/* ---- calls ------------------------------------------------------------------------------ */

static wg_tape *t;
static wg_mpi *on; /* a ring */
static wg_real x[SOME], y[SOME];

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

typedef wg_status a_call(void);

static wg_status sum(void) { return wg_mpi_allreduce(t, x, y, SOME, WG_MPI_SUM, on); }
static wg_status least(void) { return wg_mpi_allreduce(t, x, y, SOME, WG_MPI_MIN, on); }
static wg_status least_at(void) {
    static int index[SOME], at[SOME];
    return wg_mpi_allreduce_loc(t, x, index, y, at, SOME, WG_MPI_MIN, on);
}
static wg_status product(void) { return wg_mpi_allreduce(t, x, y, SOME, WG_MPI_PROD, on); }
static wg_status to_root(void) {
    memcpy(y, x, sizeof y);
    return wg_mpi_reduce(t, x, y, SOME, WG_MPI_PROD, 0, on);
}
static wg_status scan(void) { return wg_mpi_scan(t, x, y, SOME, on); }
static wg_status root_to_all(void) {
    memcpy(y, x, sizeof y);
    return wg_mpi_bcast(t, y, SOME, 0, on);
}
static wg_status all_to_all(void) {
    const size_t each = SOME / (size_t)size;
    memcpy(y, x, sizeof y);
    return wg_mpi_alltoall(t, x, NULL, y, NULL, each, on);
}
static wg_status to_the_right(void) {
    return wg_mpi_sendrecv(t, x, SOME, right(), 0, y, SOME, left(), 0, on);
}
static wg_status begun_and_waited_for(void) {
    wg_mpi_request r[2];
    (void)wg_mpi_irecv(t, y, SOME, left(), 0, on, &r[0]);
    (void)wg_mpi_isend(t, x, SOME, right(), 0, on, &r[1]);
    return wg_mpi_waitall(t, 2, r);
}
static wg_status halo(void) {
    const wg_mat both = wg_mat_gather(t, SOME, 1, x);
    const wg_mat out[2] = {wg_mat_transpose(wg_mat_block(both, 0, 0, SOME / 2, 1)),
                           wg_mat_block(both, SOME / 2, 0, SOME / 2, 1)};
    wg_mat in[2];
    memcpy(y, x, sizeof y);
    const wg_status s = wg_mpi_halo(t, 1, out, in, on);
    y[0] = wg_mat_at(in[0], 0, 0);
    return s;
}

static a_call *const calls[] = {
    sum,  least,       least_at,   product,      to_root,
    scan, root_to_all, all_to_all, to_the_right, begun_and_waited_for,
    halo};

static a_call *call; /* which is tried */

static wg_status swept(void) {
    static const double w[LANES] = {1, 2, 3};
    wg_status s = call();
    if (s == WG_OK) s = wg_mpi_reverse(t, y[0], 1, on);
    if (s == WG_OK) s = wg_mpi_reverse_lanes(t, LANES, 1, y, w, on);
    return s;
}
static wg_status times_a_vector(void) {
    double v[FEW] = {1, 2, 3}, hv[FEW];
    wg_status s = call();
    const wg_real f = wg_let(t, wg_mul(wg_exp(y[0]), x[1]));
    if (s == WG_OK) s = wg_mpi_hvp(t, f, FEW, x, v, hv, on);
    return s;
}
static wg_status whole(void) {
    double h[FEW * FEW * 8];
    wg_status s = call();
    const wg_real f = wg_let(t, wg_mul(wg_exp(y[0]), x[1]));
    if (s == WG_OK) s = wg_mpi_hessian(t, f, FEW, x, h, FEW * (size_t)size, on);
    return s;
}

/* ---- trials ----------------------------------------------------------------------------- */

static int any(int mine) {
    int one = 0;
    MPI_Allreduce(&mine, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return one;
}

static void open_all(MPI_Comm ring, unsigned flags) {
    count = counted_start();
    t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .memory = counted_memory(&count)});
    on = wg_mpi_new(ring, flags);
    all(t != NULL && on != NULL);
    for (size_t i = 0; i < SOME; i++) x[i] = wg_input(t, 1 + rank);
}

static void close_all(void) {
    wg_tape_free(t);
    all(wg_mpi_free(on) == WG_OK && count.ranges == 0 && count.wrong == 0);
}

static void all_is_well(void) {
    wg_tape_reset(t);
    for (size_t i = 0; i < SOME; i++) x[i] = wg_input(t, 1 + rank);
    assert_ok(t, sum());
    assert_ok(t, wg_mpi_reverse(t, y[SOME - 1], rank == 0, on));
    all(y[SOME - 1].value == size * (size + 1) / 2 && wg_adjoint(t, x[SOME - 1]) == 1);
}

/* Gives whether any request was refused. */
static int is_told(MPI_Comm ring, a_call *f, enum whose whose, size_t k) {
    open_all(ring, WG_MPI_CHECKED);
    if (rank == size - 1) refuse(whose, k);
    const wg_status s = f();
    const size_t here = refuse_no_more();
    const wg_status after = wg_mpi_barrier(on);
    const int was = any(here != 0), failed = any(s != WG_OK || after != WG_OK);
    all(s == WG_OK || s == WG_ENOMEM);
    all((after == WG_ENOMEM) == failed && (was || !failed));
    all(wg_mpi_clear(on) == WG_OK);
    all_is_well();
    close_all();
    return was;
}

static void memory_that_one_rank_has_not_is_told_to_all(void **state) {
    (void)state;
    a_call *const uses[] = {swept, times_a_vector, whole};
    const int yes = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &ring);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t u = 0; u < sizeof uses / sizeof *uses; u++)
            for (enum whose whose = THE_TAPES; whose <= THE_LIBRARYS; whose++) {
                size_t k = 0;
                if (SANITIZED && whose == THE_LIBRARYS) break; /* malloc is the sanitizer's */
                call = calls[c];
                while (is_told(ring, uses[u], whose, k)) all(++k < MOST);
                all(k > 0); /* there are some */
            }
    MPI_Comm_free(&ring);
}

/* Without WG_MPI_CHECKED as well: what a tape needs for second derivatives it has before
 * anybody begins. */
static void memory_of_a_tape_is_there_before_anybody_begins(void **state) {
    (void)state;
    static const double w[LANES] = {1, 2, 3};
    double v[FEW] = {1, 2, 3}, hv[FEW], h[FEW * FEW * 8];
    for (int use = 0; use < 3; use++) {
        int was = 1, failures = 0;
        for (size_t k = 0; was; k++) {
            open_all(MPI_COMM_WORLD, 0);
            assert_ok(t, sum());
            const wg_real f = wg_let(t, wg_mul(wg_exp(y[0]), x[1]));
            if (rank == size - 1) refuse(THE_TAPES, k);
            const wg_status s = use == 0 ? wg_mpi_hvp(t, f, FEW, x, v, hv, on)
                                : use == 1
                                    ? wg_mpi_hessian(t, f, FEW, x, h, FEW * (size_t)size, on)
                                    : wg_mpi_reverse_lanes(t, LANES, 1, &f, w, on);
            was = any(refuse_no_more() != 0);
            /* some may be refused, and there is less of something then */
            all(s == WG_OK || (was && s == WG_ENOMEM));
            all((s != WG_OK) == any(s != WG_OK) && k < MOST);
            failures += s != WG_OK;
            all_is_well();
            close_all();
        }
        all(failures > 0);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_one_rank_has_not_is_told_to_all),
        cmocka_unit_test(memory_of_a_tape_is_there_before_anybody_begins),
    };
    open_ranks(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
