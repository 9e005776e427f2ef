/* SPDX-License-Identifier: MIT */
/* turns.h - a loop that is recorded by its first two turns: what turns.c, which takes down what
 * they read and write, and turns_end.c, which makes the record, share. Internal. */
#ifndef WGI_TAPE_FUNCTION_FLATTEN_TURNS_H
#define WGI_TAPE_FUNCTION_FLATTEN_TURNS_H

#include "tape/engine/tape.h"

#include <wengert/map.h>
#include <wengert/turns.h>

/* What inputs and outputs of the function of a turn are: `wgi_group` of an access is one of
 * these. */
enum {
    WGI_TURNS_SHARED,  /* variables, the same in each turn */
    WGI_TURNS_NUMBERS, /* numbers, the same in each turn */
    WGI_TURNS_POINT,   /* variables of each turn */
    WGI_TURNS_DATA,    /* numbers of each turn */
    WGI_TURNS_STATE,   /* what the turn before has left */
    WGI_TURNS_INPUTS,
    WGI_TURNS_NO_INPUT = WGI_TURNS_INPUTS
};
enum {
    WGI_TURNS_NEXT, /* the state that it leaves */
    WGI_TURNS_EACH, /* results of each turn */
    WGI_TURNS_SUM,  /* sums over all turns */
    WGI_TURNS_OUTPUTS,
    WGI_TURNS_NO_OUTPUT = WGI_TURNS_OUTPUTS
};

/* An access of a turn: to memory that it reads or writes, or to a whole number. */
typedef struct wgi_turn_access {
    uintptr_t at;     /* in the first turn; of local memory, from its beginning */
    ptrdiff_t stride; /* bytes from turn to turn */
    double value[2];  /* of a whole number, in both turns */
    uint32_t local;   /* of which local memory; 0: of none */
    uint32_t next;    /* with the same hash, plus one */
    /* bytes; it holds a number, no variable; it is a whole number */
    unsigned char size, number, whole;
    unsigned char loaded, stored, added;
    size_t seen;        /* the last turn that reached it, where it has to be */
    unsigned char held; /* a state that holds what stands in memory besides */
    unsigned char each; /* one of the kinds below: where it is in each turn, or its number,
                         * stands in a column of what was reached; 0: it moves steadily */
    uint32_t column;
    uintptr_t low, high; /* of those that do not: between these addresses */
    uint32_t of, ago;    /* it has what access `of` wrote so many turns ago; 0: it has not */
    unsigned char input, output; /* groups */
    wg_real operand, now;        /* what was loaded from before the turn; what is there */
} wgi_turn_access;

/* What calls .._each reach. */
enum { WGI_TURN_VARIABLE = 1, WGI_TURN_NUMBER, WGI_TURN_WHOLE, WGI_TURN_SUM };

/* Memory of a turn. */
typedef struct wgi_turn_local {
    uintptr_t at;
    size_t bytes;
    uint32_t number;
} wgi_turn_local;

/* The function of a loop, and for which way of its turns. */
typedef struct wgi_turn_function {
    const void *site;
    wg_callable *k;
    uint64_t *way, used; /* used: by which generation of the tape */
    size_t words;
    wgi_home home; /* of the way */
} wgi_turn_function;

/* A list that grows. */
typedef struct wgi_turn_list {
    wgi_home home;
    void *at;
    size_t n, room; /* elements */
} wgi_turn_list;

enum { WGI_TURN_HASH = 1 << 10 };
/* In the number of local memory: nothing is read there that the turn has not written. */
#define WGI_TURN_PRIVATE ((uint32_t)1 << 31)

typedef struct wgi_turns {
    wg_turns head;
    wgi_derived owned; /* by the tape */
    wgi_core *c;
    wgi_home home;
    int open, failed;
    int holds;       /* does the tape of the turns hold memory? */
    uint64_t opened; /* in which generation of the tape */
    unsigned flags;
    const void *site;
    const char *where;
    size_t turn, cursor;           /* turns so far; in the way, in the second one */
    uint32_t locals_made, columns; /* columns: accesses that go elsewhere in each turn */
    /* of wgi_turn_access, wgi_turn_local, uint64_t, wgi_turn_function */
    wgi_turn_list accesses, locals, way, functions;
    wgi_turn_list reached; /* addresses, or bits of numbers: a row per turn */
    uint32_t hash[WGI_TURN_HASH];
} wgi_turns;

static inline wgi_turn_access *wgi_turn_access_at(const wgi_turns *r, size_t k) {
    return (wgi_turn_access *)r->accesses.at + k;
}
/* Where an access goes in a turn, and what a whole number is. */
static inline uint64_t wgi_turn_reached(const wgi_turns *r, const wgi_turn_access *q,
                                        size_t turn) {
    return ((const uint64_t *)r->reached.at)[turn * r->columns + q->column];
}
static inline uintptr_t wgi_turn_address(const wgi_turns *r, const wgi_turn_access *q,
                                         size_t turn) {
    return q->each ? (uintptr_t)wgi_turn_reached(r, q, turn)
                   : q->at + (uintptr_t)q->stride * turn;
}
static inline double wgi_turn_whole(const wgi_turn_access *q, size_t turn) {
    return q->value[0] + (double)turn * (q->value[1] - q->value[0]);
}
/* Frees functions that no recording uses any more; 0: there are none. */
int wgi_turn_forget(wgi_turns *r);
/* Room for one more element of so many bytes; 0: there is none, and the tape has failed. */
int wgi_turn_need(wgi_turns *r, wgi_turn_list *l, size_t bytes);
/* Gives it back; it is empty then. */
void wgi_turn_give(wgi_turn_list *l);
void wgi_turn_fail(wgi_turns *r, wg_status s, const char *what);
/* turns_reach.c: does q, in some turn, meet what w is in another turn, or in the same one? Two
 * sums do not, where one of them moves in no steps. -1: no memory, and the tape has failed. */
int wgi_turn_meet(wgi_turns *r, const wgi_turn_access *w, const wgi_turn_access *q);

#endif
