/* SPDX-License-Identifier: MIT */
/* line_search.h - a step along a direction of descent. Internal. */
#ifndef WGI_TAPE_OPTIMISE_LINE_SEARCH_H
#define WGI_TAPE_OPTIMISE_LINE_SEARCH_H

#include "search.h"

typedef struct wgi_line {
    wgi_search *s;
    const double *direction;
    double slope;         /* of the value along the direction, below 0 */
    double *x, *g, value; /* the point tried last; in the end the one that is accepted */
    double *kept_x, *kept_g, kept_value; /* the best one that was not accepted at once */
} wgi_line;

/* A step to the strong Wolfe conditions, of at most `most`, beginning with `first`. 0: none
 * that lowers the value was found. Evaluates within the bounds, beyond which `most` does not
 * lead but by rounding. */
wg_status wgi_line_wolfe(wgi_line *l, double first, double most, double *step);
/* A step that lowers the value, its end moved into the bounds. */
wg_status wgi_line_projected(wgi_line *l, double *step);

#endif
