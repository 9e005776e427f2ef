/* SPDX-License-Identifier: MIT */
/* peers.c - which peers are linked in and which are not, as the table in the Makefile found
 * out: WG_BENCH_PEERS(X) is X(name) X(name) ..., WG_BENCH_ABSENT a list of texts, each with a
 * comma.
 */
#include "peer.h"

#ifndef WG_BENCH_PEERS
#define WG_BENCH_PEERS(X)
#endif
#ifndef WG_BENCH_ABSENT
#define WG_BENCH_ABSENT
#endif

#define DECLARE(name) extern const struct bench_peer bench_peer_##name;
#define REFER(name) &bench_peer_##name,

WG_BENCH_PEERS(DECLARE)

const struct bench_peer *const bench_peers[] = {WG_BENCH_PEERS(REFER) NULL};
const size_t bench_peer_count = sizeof bench_peers / sizeof *bench_peers - 1;
const char *const bench_peers_absent[] = {WG_BENCH_ABSENT NULL};
