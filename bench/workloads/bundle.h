/* SPDX-License-Identifier: MIT */
/* bundle - the residuals of bundle adjustment as in ADBench (Srajer, Kukelova, Fitzgibbon
 * 2018): the weighted reprojection error of a point in a camera, two components, and one
 * residual for its weight. The derivative is the sparse Jacobian, one observation at a time.
 *
 * Camera, 11 numbers: rotation vector, centre, focal length, principal point, radial
 * distortion. Inputs: cameras, points, weights. Outputs: the reprojection errors, then those of
 * the weights. */
#ifndef WENGERT_BENCH_BUNDLE_H
#define WENGERT_BENCH_BUNDLE_H
enum {
    BUNDLE_CAMERA = 11,
    BUNDLE_INPUTS = BUNDLE_CAMERA + 3 + 1, /* of an observation: camera, point, weight */
    BUNDLE_ENTRIES = 2 * BUNDLE_INPUTS + 1 /* its two rows, and d (weight residual)/d weight */
};
struct bundle_params {
    size_t cameras, points, observations;
    const size_t *seen;  /* camera and point of each observation */
    const double *feats; /* where it was seen */
};

/* The inputs of observation i. */
static inline void bundle_gather(const struct bundle_params *p, const double *x, size_t i,
                                 double *in) {
    const double *camera = x + BUNDLE_CAMERA * p->seen[2 * i];
    const double *point = x + BUNDLE_CAMERA * p->cameras + 3 * p->seen[2 * i + 1];
    for (size_t j = 0; j < BUNDLE_CAMERA; j++) in[j] = camera[j];
    for (size_t j = 0; j < 3; j++) in[BUNDLE_CAMERA + j] = point[j];
    in[BUNDLE_INPUTS - 1] = x[BUNDLE_CAMERA * p->cameras + 3 * p->points + i];
}
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static inline void WG_NAME(bundle)(wg_tape *t, const wg_real *in, const double *feat,
                                   wg_real *err) {
    const wg_real *r = in, *centre = in + 3, *distort = in + 9, *point = in + BUNDLE_CAMERA;
    const wg_real focal = in[6], weight = in[BUNDLE_INPUTS - 1];
    (void)t;
    wg_real q[3], p[3];
    for (size_t i = 0; i < 3; i++) q[i] = wg_let(t, wg_sub(point[i], centre[i]));
    const wg_real angle2 =
        wg_let(t, wg_add(wg_add(wg_square(r[0]), wg_square(r[1])), wg_square(r[2])));
    if (wg_value(angle2) != 0) {
        const wg_real angle = wg_let(t, wg_sqrt(angle2));
        const wg_real c = wg_let(t, wg_cos(angle)), s = wg_let(t, wg_sin(angle));
        wg_real w[3], wxq[3];
        for (size_t i = 0; i < 3; i++) w[i] = wg_let(t, wg_div(r[i], angle));
        wxq[0] = wg_let(t, wg_sub(wg_mul(w[1], q[2]), wg_mul(w[2], q[1])));
        wxq[1] = wg_let(t, wg_sub(wg_mul(w[2], q[0]), wg_mul(w[0], q[2])));
        wxq[2] = wg_let(t, wg_sub(wg_mul(w[0], q[1]), wg_mul(w[1], q[0])));
        const wg_real along = wg_let(
            t,
            wg_mul(wg_add(wg_add(wg_mul(w[0], q[0]), wg_mul(w[1], q[1])), wg_mul(w[2], q[2])),
                   wg_sub(1.0, c)));
        for (size_t i = 0; i < 3; i++)
            p[i] = wg_let(
                t, wg_add(wg_add(wg_mul(q[i], c), wg_mul(wxq[i], s)), wg_mul(w[i], along)));
    } else {
        p[0] = wg_let(t, wg_add(q[0], wg_sub(wg_mul(r[1], q[2]), wg_mul(r[2], q[1]))));
        p[1] = wg_let(t, wg_add(q[1], wg_sub(wg_mul(r[2], q[0]), wg_mul(r[0], q[2]))));
        p[2] = wg_let(t, wg_add(q[2], wg_sub(wg_mul(r[0], q[1]), wg_mul(r[1], q[0]))));
    }
    const wg_real a = wg_let(t, wg_div(p[0], p[2])), b = wg_let(t, wg_div(p[1], p[2]));
    const wg_real r2 = wg_let(t, wg_add(wg_square(a), wg_square(b)));
    const wg_real scale = wg_let(
        t, wg_mul(focal, wg_add(1.0, wg_mul(r2, wg_add(distort[0], wg_mul(distort[1], r2))))));
    err[0] = wg_let(t, wg_mul(weight, wg_sub(wg_add(wg_mul(a, scale), in[7]), feat[0])));
    err[1] = wg_let(t, wg_mul(weight, wg_sub(wg_add(wg_mul(b, scale), in[8]), feat[1])));
    err[2] = wg_let(t, wg_sub(1.0, wg_square(weight)));
}

#ifdef BENCH_ONCE
/* A case whose x, seen and feats are still zero. */
int bench_bundle_case(struct bench_case *b, size_t cameras, size_t points, size_t observations,
                      double **x, size_t **seen, double **feats) {
    struct bundle_params *p = bench_alloc(b, 1, sizeof *p);
    b->n = BUNDLE_CAMERA * cameras + 3 * points + observations;
    b->m = 3 * observations;
    b->entries = BUNDLE_ENTRIES * observations;
    *x = bench_doubles(b, b->n);
    *seen = bench_alloc(b, 2 * observations, sizeof **seen);
    *feats = bench_doubles(b, 2 * observations);
    if (!p || !*x || !*seen || !*feats) return -1;
    p->cameras = cameras;
    p->points = points;
    p->observations = observations;
    p->seen = *seen;
    p->feats = *feats;
    b->x = *x;
    b->params = p;
    return 0;
}

static int bundle_case(struct bench_case *b, size_t cameras, size_t points,
                       size_t observations) {
    double *x, *feats;
    size_t *seen;
    if (bench_bundle_case(b, cameras, points, observations, &x, &seen, &feats)) return -1;
    uint64_t seed = 5;
    for (size_t i = 0; i < cameras; i++, x += BUNDLE_CAMERA) {
        for (size_t j = 0; j < 3; j++) {
            x[j] = bench_uniform(&seed, -0.6, 0.6);
            x[3 + j] = bench_uniform(&seed, -1, 1);
        }
        x[6] = bench_uniform(&seed, 300, 500);
        for (size_t j = 0; j < 2; j++) {
            x[7 + j] = bench_uniform(&seed, -10, 10);
            x[9 + j] = bench_uniform(&seed, -0.1, 0.1);
        }
    }
    for (size_t i = 0; i < points; i++, x += 3) {
        x[0] = bench_uniform(&seed, -1, 1);
        x[1] = bench_uniform(&seed, -1, 1);
        x[2] = bench_uniform(&seed, 4, 8);
    }
    for (size_t i = 0; i < observations; i++) {
        x[i] = bench_uniform(&seed, 0.5, 1);
        seen[2 * i] = i % cameras;
        seen[2 * i + 1] = (size_t)bench_uniform(&seed, 0, (double)points);
        feats[2 * i] = bench_uniform(&seed, -200, 200);
        feats[2 * i + 1] = bench_uniform(&seed, -200, 200);
    }
    return 0;
}

static void bundle_primal(const struct bench_case *b, double *y) {
    const struct bundle_params *p = (const struct bundle_params *)b->params;
    double *yw = y + 2 * p->observations;
    for (size_t i = 0; i < p->observations; i++) {
        double in[BUNDLE_INPUTS], err[3];
        bundle_gather(p, b->x, i, in);
        bundle_double(NULL, in, p->feats + 2 * i, err);
        y[2 * i] = err[0];
        y[2 * i + 1] = err[1];
        yw[i] = err[2];
    }
}

static void bundle_cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double bundle_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* One observation: the chain of Jacobians, for both components. Rodrigues:
 * p = q cos + (w x q) sin + w (w.q)(1 - cos), w = r/|r|, so that with an adjoint pb of p
 *   qb = pb cos - (w x pb) sin + w (w.pb)(1 - cos)
 *   wb = (q x pb) sin + pb (w.q)(1 - cos) + q (w.pb)(1 - cos)
 *   rb = (wb - w (w.wb))/|r| + w (pb . dp/d|r|). */
static void bundle_rows(const double *in, const double *feat, double *row) {
    const double *r = in, *centre = in + 3, *point = in + BUNDLE_CAMERA;
    const double focal = in[6], k1 = in[9], k2 = in[10], weight = in[BUNDLE_INPUTS - 1];
    double q[3], w[3] = {0, 0, 0}, cross[3], p[3], turn[3];
    for (size_t i = 0; i < 3; i++) q[i] = point[i] - centre[i];
    const double angle = sqrt(bundle_dot(r, r));
    double c = 1, s = 0, inverse = 0, along = 0;
    if (angle != 0) {
        c = cos(angle);
        s = sin(angle);
        inverse = 1 / angle;
        for (size_t i = 0; i < 3; i++) w[i] = r[i] * inverse;
        along = bundle_dot(w, q);
    }
    bundle_cross(w, q, cross);
    for (size_t i = 0; i < 3; i++) {
        p[i] = q[i] * c + cross[i] * s + w[i] * along * (1 - c);
        turn[i] = cross[i] * c - q[i] * s + w[i] * along * s; /* dp/d|r| */
    }
    const double z = 1 / p[2], ab[2] = {p[0] * z, p[1] * z};
    const double r2 = ab[0] * ab[0] + ab[1] * ab[1];
    const double scale = 1 + r2 * (k1 + k2 * r2), slope = 2 * (k1 + 2 * k2 * r2);
    for (size_t k = 0; k < 2; k++, row += BUNDLE_INPUTS) {
        const double u = ab[k] * scale, wf = weight * focal;
        row[6] = weight * u;
        row[7] = (k == 0 ? weight : 0);
        row[8] = (k == 1 ? weight : 0);
        row[9] = wf * ab[k] * r2;
        row[10] = row[9] * r2;
        row[14] = u * focal + in[7 + k] - feat[k];
        double pb[3];
        pb[0] = wf * z * (ab[k] * slope * ab[0] + (k == 0 ? scale : 0));
        pb[1] = wf * z * (ab[k] * slope * ab[1] + (k == 1 ? scale : 0));
        pb[2] = -(pb[0] * ab[0] + pb[1] * ab[1]);
        double wxp[3], qxp[3], wb[3];
        bundle_cross(w, pb, wxp);
        bundle_cross(q, pb, qxp);
        const double wp = bundle_dot(w, pb) * (1 - c);
        for (size_t i = 0; i < 3; i++) {
            const double qb = pb[i] * c - wxp[i] * s + w[i] * wp;
            row[3 + i] = -qb;
            row[BUNDLE_CAMERA + i] = qb;
            wb[i] = qxp[i] * s + pb[i] * along * (1 - c) + q[i] * wp;
        }
        const double radial = bundle_dot(pb, turn) - bundle_dot(w, wb) * inverse;
        for (size_t i = 0; i < 3; i++)
            row[i] = (angle != 0 ? wb[i] * inverse + w[i] * radial : qxp[i]);
    }
    *row = -2 * weight;
}

static void bundle_handwritten(const struct bench_case *b, double *entries) {
    const struct bundle_params *p = (const struct bundle_params *)b->params;
    for (size_t i = 0; i < p->observations; i++) {
        double in[BUNDLE_INPUTS];
        bundle_gather(p, b->x, i, in);
        bundle_rows(in, p->feats + 2 * i, entries + BUNDLE_ENTRIES * i);
    }
}

/* jv = J v */
static void bundle_apply(const struct bench_case *b, const double *entries, const double *v,
                         double *jv) {
    const struct bundle_params *p = (const struct bundle_params *)b->params;
    for (size_t i = 0; i < p->observations; i++, entries += BUNDLE_ENTRIES) {
        double in[BUNDLE_INPUTS];
        bundle_gather(p, v, i, in);
        for (size_t k = 0; k < 2; k++) {
            jv[2 * i + k] = 0;
            for (size_t j = 0; j < BUNDLE_INPUTS; j++)
                jv[2 * i + k] += entries[k * BUNDLE_INPUTS + j] * in[j];
        }
        jv[2 * p->observations + i] = entries[BUNDLE_ENTRIES - 1] * in[BUNDLE_INPUTS - 1];
    }
}
#endif
