/* SPDX-License-Identifier: MIT */
/* Private rows of adjoints: their memory. */
#include "private_rows.h"
#include "arena.h"

#include <string.h>

int wgi_private_rows_free(wgi_core *c) {
    wgi_private_rows *const all = c->private_rows;
    if (all == NULL || all->at_work) return 0;
    c->private_rows = NULL;
    if (all->c != NULL) wg_tape_free(&all->c->head);
    wgi_home_release(&all->home, all);
    return 1;
}

wg_status wgi_private_rows_need(wgi_core *c, size_t count, size_t runs) {
    if (c->private_rows != NULL && c->private_rows->count >= count &&
        c->private_rows->runs >= runs)
        return WG_OK;
    (void)wgi_private_rows_free(c);
    const size_t self = sizeof(wgi_private_rows) + count * sizeof(atomic_flag);
    wgi_home home;
    void *room;
    wg_status s = wgi_home_obtain(c, self + runs, &home, &room);
    if (s != WG_OK) return s;
    wgi_private_rows *const all = room;
    memset(all, 0, self);
    all->home = home;
    all->count = count;
    all->runs = runs;
    all->swept = (unsigned char *)room + self;
    for (size_t k = 0; k < count; k++) atomic_flag_clear(&all->busy[k]);
    c->private_rows = all;
    all->at_work = 1;
    wg_options o;
    wg_tape *t = NULL;
    memset(&o, 0, sizeof o);
    o.reserve = c->reserve / 1024;
    s = wgi_tape_beside(c, &o, &t);
    if (t != NULL) all->c = wgi_core_of(t);
    all->at_work = 0;
    if (s != WG_OK) (void)wgi_private_rows_free(c);
    return s;
}

static wg_status need_room(wgi_private_rows *all, size_t groups, size_t shared, size_t lanes) {
    wgi_core *const c = all->c;
    wg_status s = WG_OK;
    if (groups > all->groups) {
        groups += groups / 4;
        const size_t bytes = all->count * groups * sizeof *all->offset;
        all->groups = 0;
        s = wgi_extent_need(c, &c->index[0], bytes, 0);
        if (s != WG_OK) return s;
        all->offset = (wgi_offset *)(void *)c->index[0].base;
        all->groups = groups;
        memset(all->offset, 0, bytes);
    }
    if (shared != 0)
        s = wgi_extent_need(c, &c->index[1],
                            shared * WGI_GROUP_SLOTS * lanes * sizeof *all->rows, 0);
    all->rows = (double *)(void *)c->index[1].base;
    return s;
}

wg_status wgi_private_rows_need_room(wgi_private_rows *all, size_t groups, size_t shared,
                                     size_t lanes) {
    all->at_work = 1; /* whoever gives memory up for them leaves them alone */
    const wg_status s = need_room(all, groups, shared, lanes);
    all->at_work = 0;
    return s;
}
