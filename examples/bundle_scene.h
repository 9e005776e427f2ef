/* SPDX-License-Identifier: MIT */
/* bundle_scene.h - cameras, points and where these were seen: read from a file in the format of
 * "Bundle Adjustment in the Large" (BAL), or made. */
#ifndef WENGERT_EXAMPLES_BUNDLE_SCENE_H
#define WENGERT_EXAMPLES_BUNDLE_SCENE_H

#include <stdio.h>
#include <wengert.h>

enum { CAMERA = 9, POINT = 3 }; /* rotation, shift, focal length, two distortions; place */
#define NOISE 0.5               /* of what a made scene saw: the deviation, in pixels */

struct scene {
    size_t cameras, points, seen;
    size_t *camera, *point; /* of each observation */
    double *at;             /* 2 numbers of each observation */
    double *x;              /* the cameras, one after the other, then the points */
};

/* project - what a camera sees of a point: a wg_callback of CAMERA + POINT + 2 inputs, the last
 * two what was seen; outputs: how far off the projection is. */
wg_callback project;

/* scene_read - 0: this is no such file.  scene_write - 0: it could not be written.
 * scene_make - cameras around a cloud of points, f being the function of project; the cameras
 * and points in it are where a search is to begin, not where they were.  0: out of memory, or f
 * fails.
 * scene_free - what any of them left. */
int scene_read(FILE *f, struct scene *s);
int scene_write(FILE *f, const struct scene *s);
int scene_make(const wg_function *f, struct scene *s);
void scene_free(struct scene *s);

#endif
