/* SPDX-License-Identifier: MIT */
/* sanitized.h - is this program compiled with a sanitizer's memory? SANITIZED is 1 or 0. Such
 * programs have a malloc of their own, and are ten times slower: what is repeated with other
 * random numbers, or longer only to be long, is repeated less there. */
#ifndef TEST_SANITIZED_H
#define TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                     \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
