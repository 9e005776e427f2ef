/* SPDX-License-Identifier: MIT */
/* hand - the pose of a hand as in ADBench (Srajer, Kukelova, Fitzgibbon 2018).
 *
 * theta, 26 numbers: the rotation vector and translation of the whole, and for each of five
 * fingers the bend of its first joint, its spread, and the bends of the two joints behind.
 * Bones are numbered from the wrist, 0; finger f has the bones 1 + 4 f to 4 + 4 f, whose first
 * does not bend. Matrices of bones: 4-by-4, row after row. */
#ifndef WENGERT_BENCH_GRADBENCH_HAND_H
#define WENGERT_BENCH_GRADBENCH_HAND_H
enum { HAND_THETA = 26, HAND_FINGERS = 5, HAND_BONES = 1 + 4 * HAND_FINGERS /* at least */ };
#define HAND_STILL 1e-4 /* smaller angles do not rotate the whole */
#endif

#include <wengert/generic.h>

static inline wg_real WG_NAME(hand_dot)(wg_tape *t, const wg_real *row, const wg_real *b,
                                        size_t step) {
    (void)t;
    return wg_let(t, wg_add(wg_add(wg_mul(row[0], b[0]), wg_mul(row[1], b[step])),
                            wg_add(wg_mul(row[2], b[2 * step]), wg_mul(row[3], b[3 * step]))));
}

/* c = a b, of which `rows` rows are wanted. */
static inline void WG_NAME(hand_multiply)(wg_tape *t, size_t rows, const wg_real *a,
                                          const wg_real *b, wg_real *c) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < 4; j++) c[4 * i + j] = WG_NAME(hand_dot)(t, a + 4 * i, b + j, 4);
}

/* c = a, turned by z and then x: a Rz Rx. */
static inline void WG_NAME(hand_bend)(wg_tape *t, const wg_real *a, wg_real x, wg_real z,
                                      wg_real *c) {
    (void)t;
    const wg_real cx = wg_let(t, wg_cos(x)), sx = wg_let(t, wg_sin(x));
    const wg_real cz = wg_let(t, wg_cos(z)), sz = wg_let(t, wg_sin(z));
    for (size_t i = 0; i < 4; i++, a += 4, c += 4) {
        const wg_real b = wg_let(t, wg_sub(wg_mul(a[1], cz), wg_mul(a[0], sz)));
        c[0] = wg_let(t, wg_add(wg_mul(a[0], cz), wg_mul(a[1], sz)));
        c[1] = wg_let(t, wg_add(wg_mul(b, cx), wg_mul(a[2], sx)));
        c[2] = wg_let(t, wg_sub(wg_mul(a[2], cx), wg_mul(b, sx)));
        c[3] = a[3];
    }
}

/* The transformations of the bones, three rows each: out[12 i ...]. parent[i] < i is the bone
 * before, or -1. work: 32 per bone. */
static inline void WG_NAME(hand_bones)(wg_tape *t, const wg_real *theta, size_t bones,
                                       const int *parent, const wg_real *relative,
                                       const wg_real *inverse, wg_real *work, wg_real *out) {
    for (size_t i = 0; i < bones; i++, relative += 16, inverse += 16, out += 12) {
        wg_real *const at = work + 32 * i, *const bent = at + 16;
        const size_t joint = (i + 3) % 4, finger = (i + 3) / 4 - 1;
        const wg_real *own = relative;
        if (i > 0 && i < HAND_BONES && joint > 0) {
            const wg_real *const angle = theta + 6 + 4 * finger;
            const wg_real none = wg_constant(0.0);
            WG_NAME(hand_bend)
            (t, relative, joint == 1 ? angle[0] : angle[joint], joint == 1 ? angle[1] : none,
             bent);
            own = bent;
        }
        if (parent[i] < 0)
            for (size_t k = 0; k < 16; k++) at[k] = own[k];
        else WG_NAME(hand_multiply)(t, 4, work + 32 * (size_t)parent[i], own, at);
        WG_NAME(hand_multiply)(t, 3, at, inverse, out);
    }
}

/* The rotation of the whole, row after row. */
static inline void WG_NAME(hand_rotation)(wg_tape *t, const wg_real *v, wg_real *r) {
    (void)t;
    const wg_real angle =
        wg_let(t, wg_sqrt(wg_add(wg_add(wg_square(v[0]), wg_square(v[1])), wg_square(v[2]))));
    const wg_real x = wg_let(t, wg_div(v[0], angle)), y = wg_let(t, wg_div(v[1], angle));
    const wg_real z = wg_let(t, wg_div(v[2], angle));
    const wg_real s = wg_let(t, wg_sin(angle)), c = wg_let(t, wg_cos(angle));
    const wg_real u = wg_let(t, wg_sub(1.0, c));
    const wg_real xy = wg_let(t, wg_mul(wg_mul(x, y), u)), zs = wg_let(t, wg_mul(z, s));
    const wg_real xz = wg_let(t, wg_mul(wg_mul(x, z), u)), ys = wg_let(t, wg_mul(y, s));
    const wg_real yz = wg_let(t, wg_mul(wg_mul(y, z), u)), xs = wg_let(t, wg_mul(x, s));
    r[0] = wg_let(t, wg_add(c, wg_mul(wg_square(x), u)));
    r[1] = wg_let(t, wg_sub(xy, zs));
    r[2] = wg_let(t, wg_add(xz, ys));
    r[3] = wg_let(t, wg_add(xy, zs));
    r[4] = wg_let(t, wg_add(c, wg_mul(wg_square(y), u)));
    r[5] = wg_let(t, wg_sub(yz, xs));
    r[6] = wg_let(t, wg_sub(xz, ys));
    r[7] = wg_let(t, wg_add(yz, xs));
    r[8] = wg_let(t, wg_add(c, wg_mul(wg_square(z), u)));
    for (size_t i = 0; i < 9; i++)
        r[i] = wg_let(t, wg_select_lt(angle, HAND_STILL, i % 4 == 0 ? 1.0 : 0.0, r[i]));
}
