/* SPDX-License-Identifier: MIT */
/* fixture.h - PETSc for a group of tests: it begins once, its errors come back and are not
 * printed. */
#ifndef WENGERT_PETSC_FIXTURE_H
#define WENGERT_PETSC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <petscsys.h>

/* Of the leak sanitizer, where that is: MPI never frees what it obtains here. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

static inline int begin(void **state) {
    (void)state;
    if (__lsan_disable != NULL) __lsan_disable();
    const int failed = PetscInitializeNoArguments() != 0 ||
                       PetscPushErrorHandler(PetscReturnErrorHandler, NULL) != 0;
    if (__lsan_enable != NULL) __lsan_enable();
    return failed;
}
static inline int finish(void **state) {
    (void)state;
    if (__lsan_disable != NULL) __lsan_disable();
    const int failed = PetscFinalize() != 0;
    if (__lsan_enable != NULL) __lsan_enable();
    return failed;
}
#define well(call) assert_int_equal(call, 0)

#endif
