/* SPDX-License-Identifier: MIT */
/* Windows on adjoints: their memory. */
#include "windows.h"
#include "arena.h"

#include <string.h>

int wgi_windows_free(wgi_core *c) {
    wgi_windows *const all = c->windows;
    if (all == NULL || all->at_work) return 0;
    c->windows = NULL;
    if (all->c != NULL) wg_tape_free(&all->c->head);
    wgi_home_release(&all->home, all);
    return 1;
}

wg_status wgi_windows_need(wgi_core *c, size_t count, size_t runs) {
    if (c->windows != NULL && c->windows->count >= count && c->windows->runs >= runs)
        return WG_OK;
    (void)wgi_windows_free(c);
    const size_t self = sizeof(wgi_windows) + count * sizeof(atomic_flag);
    wgi_home home;
    void *room;
    wg_status s = wgi_home_obtain(c, self + runs, &home, &room);
    if (s != WG_OK) return s;
    wgi_windows *const all = room;
    memset(all, 0, self);
    all->home = home;
    all->count = count;
    all->runs = runs;
    all->swept = (unsigned char *)room + self;
    for (size_t k = 0; k < count; k++) atomic_flag_clear(&all->busy[k]);
    c->windows = all;
    all->at_work = 1;
    wg_options o;
    wg_tape *t = NULL;
    memset(&o, 0, sizeof o);
    o.reserve = c->reserve / 1024;
    s = wgi_tape_beside(c, &o, &t);
    if (t != NULL) all->c = wgi_core_of(t);
    all->at_work = 0;
    if (s != WG_OK) (void)wgi_windows_free(c);
    return s;
}

static wg_status need_room(wgi_windows *all, size_t groups, size_t shared, size_t lanes) {
    wgi_core *const c = all->c;
    wg_status s = WG_OK;
    if (groups > all->groups) {
        groups += groups / 4;
        const size_t bytes = all->count * groups * sizeof *all->window;
        all->groups = 0;
        s = wgi_region_need(c, &c->index[0], bytes, 0);
        if (s != WG_OK) return s;
        all->window = (wgi_window *)(void *)c->index[0].base;
        all->groups = groups;
        memset(all->window, 0, bytes);
    }
    if (shared != 0)
        s = wgi_region_need(c, &c->index[1],
                            shared * WGI_GROUP_SLOTS * lanes * sizeof *all->rows, 0);
    all->rows = (double *)(void *)c->index[1].base;
    return s;
}

wg_status wgi_windows_need_room(wgi_windows *all, size_t groups, size_t shared, size_t lanes) {
    all->at_work = 1; /* whoever gives memory up for them leaves them alone */
    const wg_status s = need_room(all, groups, shared, lanes);
    all->at_work = 0;
    return s;
}
