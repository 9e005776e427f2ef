/* SPDX-License-Identifier: MIT */
/* Spilled tapes: memory that goes on in a file. A recording that is larger than the memory of
 * the machine needs no swap space, and is swept as any other: what has not been used for a
 * while stands on the disk alone.
 *
 *     wg_spill *s;
 *     if (wg_spill_new("/scratch", (size_t)4 << 30, (size_t)200 << 30, &s, &why) != WG_OK) ...
 *     wg_tape *t = wg_tape_new(&(wg_options){.memory = wg_spill_memory(s)});
 *     ...
 *     wg_tape_free(t);
 *     wg_spill_free(s); */
#ifndef WENGERT_SPILL_H
#define WENGERT_SPILL_H

#include <wengert/types.h>

WG_BEGIN_DECLS

typedef struct wg_spill wg_spill;

/* wg_spill_new - a file of so many bytes for what goes beyond `resident` bytes of memory. All
 * its space is taken now, so that a disk that is full says so before the recording begins.
 *          (Where a file system copies what it overwrites, as btrfs and ZFS do, no space can be
 *          held, and a disk that fills up later ends the process.)
 * directory: where the file is to be. It has no name there, and is gone when the process ends,
 * in whatever way.
 * resident: bytes, given out first, of memory that is never on that disk; 0: all stands in the
 * file.
 * why:     NULL, or is set to the reason of a failure, a text that stays; "" without one.
 * Cost:    the system writes pages of the file when it needs their memory, or, as it writes all
 *          files, after some seconds: a disk of 1 GB a second takes what tapes record about as
 *          fast as it is computed.
 * Errors:  WG_ENULL; WG_EARG: no bytes, or more than a file can have; WG_EWRITE: no file can be
 *          made there, or the disk is full; WG_ENOMEM. *out is NULL. */
WG_API WG_MUST_CHECK wg_status wg_spill_new(const char *directory, size_t resident,
                                            size_t bytes, wg_spill **out, const char **why);
/* wg_spill_memory - for wg_options.memory, of any number of tapes in any threads: they, and
 * what is made on them, share it. Where neither `resident` nor the file has room for more a
 * tape fails with WG_ENOMEM, as where memory is used up; and where they are in 2^14 pieces:
 * each object has one at least. In a child of fork such a tape is not there: to use it ends the
 * child.
 * NULL: the system's memory, as of a tape without options. */
WG_API wg_memory wg_spill_memory(wg_spill *s);
/* wg_spill_used - bytes of the file that are in use.   NULL: 0. */
WG_API size_t wg_spill_used(wg_spill *s);
/* wg_spill_free - after the last tape and the last object that has memory of it. NULL is
 * allowed. */
WG_API void wg_spill_free(wg_spill *s);

WG_END_DECLS

#endif
