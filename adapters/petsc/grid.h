/* SPDX-License-Identifier: MIT */
/* grid.h - a residual on a DMDA, and the part of the grid that a process has. */
#ifndef WENGERT_PETSC_GRID_H
#define WENGERT_PETSC_GRID_H

#include "internal.h"

enum { WGI_DIMENSIONS = 3, WGI_MOST_NUMBERS = 64 };

typedef struct wgi_offset {
    PetscInt at[WGI_DIMENSIONS];
} wgi_offset;

/* Where entries of all points go in the arrays of a matrix, as long as it is that one with
 * that pattern. */
typedef struct wgi_places {
    PetscObjectId matrix; /* 0: of none */
    PetscObjectState pattern;
    int found; /* are they there, all of them? */
    PetscInt *
        slot; /* of each point, of each entry: of the array of own columns, ~ of that of others, or
                     * NOWHERE: beyond a boundary */
} wgi_places;

struct wg_petsc_grid {
    DM da;
    PetscInt dim, d, width;
    size_t points, middle; /* of the stencil */
    wgi_offset *stencil;
    wg_function *residual, *jacobian;
    void *residual_work, *jacobian_work;
    size_t entries; /* of the block of a point that are not identically 0, or of its diagonal */
    size_t *entry;  /* where they stand: [point of the stencil][residual][number] */
    int meet;       /* are there points of the stencil that are one point of a periodic grid? */
    wg_points *x;
    wg_results *y;
    /* of one process and its part of the grid */
    PetscInt low[WGI_DIMENSIONS], count[WGI_DIMENSIONS], ghost_low[WGI_DIMENSIONS],
        ghost_count[WGI_DIMENSIONS];
    PetscInt size[WGI_DIMENSIONS]; /* of the whole grid; 0: periodic, without end */
    PetscInt room[WGI_DIMENSIONS]; /* of the box on either side */
    double *box, *place, *line;
    wgi_places places;
    wg_status status;
    char message[400];
};

/* Sets the status and the message. Result: s. */
wg_status wgi_petsc_grid_refuse(wg_petsc_grid *g, wg_status s, const char *format, ...);

/* The box of u. */
PetscErrorCode wgi_petsc_grid_see(wg_petsc_grid *g, Vec u);
/* The inputs of the line j, k of the process's part, and a function at its points, into
 * g->y. */
void wgi_petsc_grid_give_line(wg_petsc_grid *g, PetscInt j, PetscInt k);
wg_status wgi_petsc_grid_line(wg_petsc_grid *g, const wg_function *f, void *work);
int wgi_petsc_is_finite(size_t n, const double *v);

#endif
