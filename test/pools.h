/* SPDX-License-Identifier: MIT */
/* pools.h - pools of threads for all tests of a program, made when first asked for. */
#ifndef WENGERT_TEST_POOLS_H
#define WENGERT_TEST_POOLS_H

#include <wengert/threads.h>

enum { POOLS = 9 };
static wg_threads *pools[POOLS];

/* A pool of so many; 0: none. */
static inline wg_threads *pool_of(size_t count) {
    assert_true(count < POOLS);
    if (count != 0 && pools[count] == NULL)
        assert_int_equal(wg_threads_new(count, NULL, &pools[count]), WG_OK);
    return pools[count];
}

/* The teardown of the group. */
static inline int free_pools(void **state) {
    (void)state;
    for (size_t k = 0; k < POOLS; k++) wg_threads_free(pools[k]);
    return 0;
}

#endif
