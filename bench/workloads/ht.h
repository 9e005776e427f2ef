/* SPDX-License-Identifier: MIT */
/* ht - hand tracking as in ADBench (Srajer, Kukelova, Fitzgibbon 2018): the distances of
 * measured points from vertices of a posed hand, or from points in its triangles, with two
 * barycentric coordinates each. What is wanted is the Jacobian, three rows for a point: by its
 * own two coordinates, where there are any, and by theta.
 *
 * theta: the rotation vector and translation of the whole; for each finger the bend and spread
 * of its first joint, and the bends of the other two. Finger f has the bones 1 + 4 f to 4 + 4
 * f, of which the first does not move; bones that do not move relative to the whole have their
 * share of a vertex in numbers. Transformations: three rows of four. */
#ifndef WENGERT_BENCH_HT_H
#define WENGERT_BENCH_HT_H
enum { HT_THETA = 26, HT_OWN = 2, HT_FINGERS = 5, HT_JOINTS = 3, HT_MOVING = 15 };
#define HT_STILL 1e-4 /* smaller angles do not rotate the whole */
struct ht_params {
    size_t vertices, n, own; /* own: HT_OWN, or 0 */
    int mirrored;
    const double *base;      /* of each finger the transformation of its first bone */
    const double *relative;  /* of moving bones: the place at rest beside the bone before */
    const double *inverse;   /* and the inverse of the whole transformation at rest */
    const double *positions; /* three of each vertex, in the bones' own units */
    const double *weights;   /* of each vertex, HT_MOVING */
    const double *still;     /* of each vertex, what bones that do not move make of it */
    const double *points;    /* measured, n by 3 */
    const double *us;        /* n by 2 */
    const size_t *corner;    /* vertices of each point: three, or one */
};

/* c = a b */
static inline void ht_multiply(const double *a, const double *b, double *c) {
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++)
            c[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] +
                           (j == 3 ? a[4 * i + 3] : 0);
}
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* c = a b, b of numbers */
static inline void WG_NAME(ht_place)(wg_tape *t, const wg_real *a, const double *b,
                                     wg_real *c) {
    (void)t;
    for (size_t i = 0; i < 3; i++, a += 4, c += 4) {
        for (size_t j = 0; j < 3; j++)
            c[j] = wg_let(t, wg_add(wg_add(wg_mul(a[0], b[j]), wg_mul(a[1], b[4 + j])),
                                    wg_mul(a[2], b[8 + j])));
        c[3] = wg_let(t, wg_add(wg_add(wg_add(wg_mul(a[0], b[3]), wg_mul(a[1], b[7])),
                                       wg_mul(a[2], b[11])),
                                a[3]));
    }
}

/* a, turned by z, unless that is NULL, and then x. */
static inline void WG_NAME(ht_turn)(wg_tape *t, wg_real *a, const wg_real *x,
                                    const wg_real *z) {
    const wg_real cx = wg_let(t, wg_cos(x[0])), sx = wg_let(t, wg_sin(x[0]));
    (void)t;
    for (size_t i = 0; z && i < 3; i++) {
        const wg_real cz = wg_let(t, wg_cos(z[0])), sz = wg_let(t, wg_sin(z[0]));
        const wg_real first = a[4 * i], second = a[4 * i + 1];
        a[4 * i] = wg_let(t, wg_add(wg_mul(first, cz), wg_mul(second, sz)));
        a[4 * i + 1] = wg_let(t, wg_sub(wg_mul(second, cz), wg_mul(first, sz)));
    }
    for (size_t i = 0; i < 3; i++) {
        const wg_real second = a[4 * i + 1], third = a[4 * i + 2];
        a[4 * i + 1] = wg_let(t, wg_add(wg_mul(second, cx), wg_mul(third, sx)));
        a[4 * i + 2] = wg_let(t, wg_sub(wg_mul(third, cx), wg_mul(second, sx)));
    }
}

/* The transformations of the moving bones, and the rotation of the whole. */
static inline void WG_NAME(ht_pose)(wg_tape *t, const struct ht_params *p, const wg_real *theta,
                                    wg_real *moved, wg_real *r) {
    for (size_t f = 0; f < HT_FINGERS; f++) {
        const wg_real *angle = theta + 6 + 4 * f;
        wg_real at[12], next[12];
        for (size_t i = 0; i < 12; i++) at[i] = wg_constant(p->base[12 * f + i]);
        for (size_t j = 0; j < HT_JOINTS; j++) {
            const size_t bone = HT_JOINTS * f + j;
            WG_NAME(ht_place)(t, at, p->relative + 12 * bone, next);
            if (j == 0) WG_NAME(ht_turn)(t, next, angle, angle + 1);
            else WG_NAME(ht_turn)(t, next, angle + j + 1, NULL);
            WG_NAME(ht_place)(t, next, p->inverse + 12 * bone, moved + 12 * bone);
            for (size_t i = 0; i < 12; i++) at[i] = next[i];
        }
    }
    const wg_real angle = wg_let(
        t,
        wg_sqrt(wg_add(wg_add(wg_square(theta[0]), wg_square(theta[1])), wg_square(theta[2]))));
    if (wg_value(angle) < HT_STILL) {
        for (size_t i = 0; i < 9; i++) r[i] = wg_constant(i % 4 == 0);
        return;
    }
    const wg_real c = wg_let(t, wg_cos(angle)), s = wg_let(t, wg_sin(angle));
    const wg_real u = wg_let(t, wg_sub(1.0, c));
    wg_real k[3], ks[3], ku[3];
    for (size_t i = 0; i < 3; i++) {
        k[i] = wg_let(t, wg_div(theta[i], angle));
        ks[i] = wg_let(t, wg_mul(k[i], s));
        ku[i] = wg_let(t, wg_mul(k[i], u));
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3, l = (i + 2) % 3;
        r[3 * i + i] = wg_let(t, wg_add(c, wg_mul(k[i], ku[i])));
        r[3 * i + j] = wg_let(t, wg_sub(wg_mul(k[i], ku[j]), ks[l]));
        r[3 * j + i] = wg_let(t, wg_add(wg_mul(k[i], ku[j]), ks[l]));
    }
}

/* Vertex v before the whole is rotated. */
static inline void WG_NAME(ht_vertex)(wg_tape *t, const struct ht_params *p,
                                      const wg_real *moved, size_t v, wg_real *at) {
    const double *x = p->positions + 3 * v, *w = p->weights + HT_MOVING * v;
    (void)t;
    for (size_t j = 0; j < 3; j++) at[j] = wg_constant(p->still[3 * v + j]);
    for (size_t b = 0; b < HT_MOVING; b++, moved += 12)
        for (size_t j = 0; j < 3; j++) {
            const wg_real *m = moved + 4 * j;
            at[j] = wg_let(
                t, wg_add(at[j],
                          wg_add(wg_add(wg_mul(m[0], w[b] * x[0]), wg_mul(m[1], w[b] * x[1])),
                                 wg_add(wg_mul(m[2], w[b] * x[2]), wg_mul(m[3], w[b])))));
        }
    if (p->mirrored) at[0] = wg_let(t, wg_neg(at[0]));
}

/* The distance of measured point i; u: its own two coordinates, where there are any. */
static inline void WG_NAME(ht_distance)(wg_tape *t, const struct ht_params *p,
                                        const wg_real *theta, const wg_real *moved,
                                        const wg_real *r, size_t i, const wg_real *u,
                                        wg_real *err) {
    wg_real at[3];
    if (p->own) {
        const size_t *corner = p->corner + 3 * i;
        const wg_real last = wg_let(t, wg_sub(wg_sub(1.0, u[0]), u[1]));
        wg_real a[3], b[3], c[3];
        WG_NAME(ht_vertex)(t, p, moved, corner[0], a);
        WG_NAME(ht_vertex)(t, p, moved, corner[1], b);
        WG_NAME(ht_vertex)(t, p, moved, corner[2], c);
        for (size_t j = 0; j < 3; j++)
            at[j] = wg_let(
                t, wg_add(wg_add(wg_mul(u[0], a[j]), wg_mul(u[1], b[j])), wg_mul(last, c[j])));
    } else {
        WG_NAME(ht_vertex)(t, p, moved, p->corner[i], at);
    }
    for (size_t j = 0; j < 3; j++) {
        const wg_real *row = r + 3 * j;
        const wg_real turned =
            wg_let(t, wg_add(wg_add(wg_mul(row[0], at[0]), wg_mul(row[1], at[1])),
                             wg_mul(row[2], at[2])));
        err[j] = wg_let(t, wg_sub(wg_sub(p->points[3 * i + j], turned), theta[3 + j]));
    }
}

#ifdef BENCH_ONCE
static void ht_primal(const struct bench_case *b, double *y) {
    const struct ht_params *p = (const struct ht_params *)b->params;
    double moved[12 * HT_MOVING], r[9];
    ht_pose_double(NULL, p, b->x, moved, r);
    for (size_t i = 0; i < p->n; i++)
        ht_distance_double(NULL, p, b->x, moved, r, i, p->own ? p->us + 2 * i : NULL,
                           y + 3 * i);
}

/* a, turned by the angle about axis 2 or 0, or the derivative of that. */
static void ht_turned(const double *a, double angle, int axis, int slope, double *b) {
    const size_t j = axis == 2 ? 0 : 1, l = j + 1, rest = axis == 2 ? 2 : 0;
    const double c = slope ? -sin(angle) : cos(angle), s = slope ? cos(angle) : sin(angle);
    for (size_t i = 0; i < 3; i++, a += 4, b += 4) {
        const double first = a[j], second = a[l];
        b[j] = first * c + second * s;
        b[l] = second * c - first * s;
        b[rest] = slope ? 0 : a[rest];
        b[3] = slope ? 0 : a[3];
    }
}

/* Bones of a finger and their slopes by its angles: slope[4 (3 f + j) + a]. Those by angles of
 * joints further out are not looked at. */
static void ht_slopes(const struct ht_params *p, const double *theta, double (*moved)[12],
                      double (*slope)[12]) {
    for (size_t f = 0; f < HT_FINGERS; f++) {
        const double *angle = theta + 6 + 4 * f;
        double at[12], by[4][12], place[12];
        memcpy(at, p->base + 12 * f, sizeof at);
        for (size_t j = 0; j < HT_JOINTS; j++) {
            const size_t bone = HT_JOINTS * f + j, own = j == 0 ? 0 : j + 1;
            const double *relative = p->relative + 12 * bone;
            for (size_t a = 0; j > 0 && a <= j; a++) { /* by angles of the joints before */
                ht_multiply(by[a], relative, place);
                ht_turned(place, angle[own], 0, 0, by[a]);
            }
            ht_multiply(at, relative, place);
            if (j == 0) {
                ht_turned(place, angle[1], 2, 1, by[1]);
                ht_turned(by[1], angle[0], 0, 0, by[1]);
                ht_turned(place, angle[1], 2, 0, place);
            }
            ht_turned(place, angle[own], 0, 1, by[own]);
            ht_turned(place, angle[own], 0, 0, at);
            ht_multiply(at, p->inverse + 12 * bone, moved[bone]);
            for (size_t a = 0; a <= j + 1; a++)
                ht_multiply(by[a], p->inverse + 12 * bone, slope[4 * bone + a]);
        }
    }
}

/* The rotation of the whole and its three slopes: R = c I + s [k] + (1 - c) k k'. */
static void ht_rotation(const double *v, double (*r)[9]) {
    const double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double c = cos(angle), s = sin(angle);
    memset(r, 0, 4 * sizeof *r);
    if (angle < HT_STILL) {
        for (size_t i = 0; i < 3; i++) r[0][4 * i] = 1;
        return;
    }
    const double k[3] = {v[0] / angle, v[1] / angle, v[2] / angle};
    for (size_t d = 0; d < 4; d++) { /* the rotation, and by v[d - 1] */
        double dk[3] = {0, 0, 0};
        const double kd = d ? k[d - 1] : 0;
        for (size_t i = 0; d && i < 3; i++) dk[i] = ((i == d - 1) - k[i] * kd) / angle;
        const double one = d ? -s * kd : c, cross = d ? c * kd : s, outer = d ? s * kd : 1 - c;
        for (size_t i = 0; i < 3; i++) {
            const size_t j = (i + 1) % 3, l = (i + 2) % 3;
            const double turn = cross * k[l] + s * dk[l];
            r[d][4 * i] = one + outer * k[i] * k[i] + (1 - c) * 2 * k[i] * dk[i];
            const double both = outer * k[i] * k[j] + (1 - c) * (k[i] * dk[j] + k[j] * dk[i]);
            r[d][3 * i + j] = both - turn;
            r[d][3 * j + i] = both + turn;
        }
    }
}

/* at += u times a vertex, by += u times its slopes by the angles of the fingers. */
static void ht_add(const struct ht_params *p, double (*moved)[12], double (*slope)[12],
                   size_t v, double u, double *at, double (*by)[3]) {
    const double *x = p->positions + 3 * v, *weight = p->weights + HT_MOVING * v;
    for (size_t j = 0; j < 3; j++) at[j] += u * p->still[3 * v + j];
    for (size_t b = 0; b < HT_MOVING; b++) {
        const double w = u * weight[b], q[4] = {w * x[0], w * x[1], w * x[2], w};
        const size_t first = b / HT_JOINTS * 4, angles = b % HT_JOINTS + 2;
        for (size_t a = 0; a <= angles; a++) { /* the last one is the vertex */
            const double *m = a < angles ? slope[4 * b + a] : moved[b];
            double *to = a < angles ? by[first + a] : at;
            for (size_t j = 0; j < 3; j++, m += 4)
                to[j] += m[0] * q[0] + m[1] * q[1] + m[2] * q[2] + m[3] * q[3];
        }
    }
}

static double ht_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void ht_handwritten(const struct bench_case *b, double *row) {
    enum { ANGLES = 4 * HT_FINGERS };
    const struct ht_params *p = (const struct ht_params *)b->params;
    double moved[HT_MOVING][12], slope[4 * HT_MOVING][12], r[4][9];
    const double mirror = p->mirrored ? -1 : 1;
    ht_slopes(p, b->x, moved, slope);
    ht_rotation(b->x, r);
    for (size_t i = 0; i < p->n; i++) {
        const double *u = p->us + 2 * i;
        double at[3] = {0, 0, 0}, by[ANGLES][3], apart[HT_OWN][3];
        memset(by, 0, sizeof by);
        if (p->own) {
            const double weight[3] = {u[0], u[1], 1 - u[0] - u[1]};
            double corner[3][3], none[ANGLES][3];
            memset(corner, 0, sizeof corner);
            for (size_t c = 0; c < 3; c++) {
                const size_t v = p->corner[3 * i + c];
                memset(none, 0, sizeof none);
                ht_add(p, moved, slope, v, 1, corner[c], none);
                for (size_t a = 0; a < ANGLES; a++)
                    for (size_t j = 0; j < 3; j++) by[a][j] += weight[c] * none[a][j];
            }
            for (size_t j = 0; j < 3; j++) {
                at[j] =
                    ht_dot(weight, (const double[]){corner[0][j], corner[1][j], corner[2][j]});
                for (size_t c = 0; c < HT_OWN; c++) apart[c][j] = corner[c][j] - corner[2][j];
            }
            for (size_t c = 0; c < HT_OWN; c++) apart[c][0] *= mirror;
        } else {
            ht_add(p, moved, slope, p->corner[i], 1, at, by);
        }
        at[0] *= mirror;
        for (size_t a = 0; a < ANGLES; a++) by[a][0] *= mirror;
        for (size_t j = 0; j < 3; j++) {
            for (size_t c = 0; c < p->own; c++) *row++ = -ht_dot(r[0] + 3 * j, apart[c]);
            for (size_t d = 1; d < 4; d++) *row++ = -ht_dot(r[d] + 3 * j, at);
            for (size_t d = 0; d < 3; d++) *row++ = -(double)(d == j);
            for (size_t a = 0; a < ANGLES; a++) *row++ = -ht_dot(r[0] + 3 * j, by[a]);
        }
    }
}
#endif
