/* SPDX-License-Identifier: MIT */
/* peers.c - the table of peers that are linked in: WG_HAVE_ADOLC, WG_HAVE_SACADO, and what
 * WG_BENCH_MORE_PEERS lists as X(name) X(name) ... */
#include "peer.h"

#define DECLARE(name) extern const struct bench_peer bench_peer_##name;
#define REFER(name) &bench_peer_##name,

#ifndef WG_BENCH_MORE_PEERS
#define WG_BENCH_MORE_PEERS(X)
#endif
#ifdef WG_HAVE_ADOLC
#define ADOLC(X) X(adolc)
#define NO_ADOLC
#else
#define ADOLC(X)
#define NO_ADOLC "ADOL-C (Debian: libadolc-dev)",
#endif
#ifdef WG_HAVE_SACADO
#define SACADO(X) X(sacado)
#define NO_SACADO
#else
#define SACADO(X)
#define NO_SACADO "Sacado (Debian: libtrilinos-sacado-dev)",
#endif
#define ALL(X) WG_BENCH_MORE_PEERS(X) ADOLC(X) SACADO(X)

ALL(DECLARE)

const struct bench_peer *const bench_peers[] = {ALL(REFER) NULL};
const size_t bench_peer_count = sizeof bench_peers / sizeof *bench_peers - 1;
const char *const bench_peers_absent[] = {NO_ADOLC NO_SACADO NULL};
