/* SPDX-License-Identifier: MIT */
/* A classifier of handwritten digits: three layers, trained on batches, judged by images it has
 * not seen.
 *
 *     digits          reads the 1797 images that Debian's python3-sklearn installs
 *     digits FILE     reads digits.csv.gz from elsewhere; without installing, this gets it:
 *                     apt-get download python3-sklearn
 *                     dpkg -x python3-sklearn_*.deb .
 *                     find . -name digits.csv.gz
 *
 * Without the file, or built without zlib, it says so and trains on digits it draws itself,
 * from a small font with noise. The exit status is 0 when enough unseen images are recognised.
 *
 * Data: Alpaydin and Kaynak 1998, Optical Recognition of Handwritten Digits: 8 by 8 pixels of 0
 * to 16 and a label on a line. The last images, kept unseen, are harder than a random choice.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

#include "random_numbers.h"

#if defined(__has_include)
#if __has_include(<zlib.h>)
#define HAVE_ZLIB 1
#include <zlib.h>
#endif
#endif
#ifndef HAVE_ZLIB
#define HAVE_ZLIB 0
#endif

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, IMAGES = 1797, SEEN = 1497 };
/* Of the unseen ones: 92 % are, and what rounding makes of the training may be 3 % of them. */
enum { UNSEEN = IMAGES - SEEN, DEMANDED = UNSEEN * 88 / 100 };
enum { BATCH = 50, EPOCHS = 20, BATCHES = (SEEN + BATCH - 1) / BATCH };

/* Outputs of the three layers. */
enum { FIRST = 96, SECOND = 48, THIRD = CLASSES };
enum { PARAMETERS = FIRST * (PIXELS + 1) + SECOND * (FIRST + 1) + THIRD * (SECOND + 1) };
enum { PARTS = 6 }; /* weights and bias of each */

struct images {
    double pixel[PIXELS * IMAGES]; /* a column each, 0 to 1 */
    size_t label[IMAGES];
};

/* ---- the images -------------------------------------------------------------------------- */

/* Result: whether all of them were there. */
static int read_images(const char *path, struct images *d) {
#if HAVE_ZLIB
    gzFile file = gzopen(path, "rb");
    if (file == NULL) return 0;
    char line[1024];
    size_t count = 0;
    while (count < IMAGES && gzgets(file, line, sizeof line) != NULL) {
        char *p = line;
        for (size_t i = 0; i <= PIXELS; i++) {
            const double number = strtod(p, &p);
            if (*p == ',') p++;
            if (i < PIXELS) d->pixel[i + count * PIXELS] = number / 16;
            else if (number >= 0 && number < CLASSES) d->label[count++] = (size_t)number;
        }
    }
    gzclose(file);
    return count == IMAGES;
#else
    (void)path, (void)d;
    return 0;
#endif
}

/* Ten digits of 5 by 7 dots, a row of dots per byte, the left one in bit 4. */
static const unsigned char font[CLASSES][7] = {
    {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},  {14, 17, 1, 6, 8, 16, 31},
    {14, 17, 1, 6, 1, 17, 14},    {2, 6, 10, 18, 31, 2, 2}, {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},   {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},
};

static void draw_images(struct images *d) {
    uint64_t state = 7;
    for (size_t k = 0; k < IMAGES; k++) {
        double *image = d->pixel + k * PIXELS;
        const size_t digit = d->label[k] = k % CLASSES;
        const size_t left = (size_t)(4 * random_uniform(&state));
        const size_t top = (size_t)(2 * random_uniform(&state));
        for (size_t i = 0; i < PIXELS; i++) image[i] = fabs(0.2 * random_normal(&state));
        for (size_t row = 0; row < 7; row++)
            for (size_t col = 0; col < 5; col++)
                if (font[digit][row] >> (4 - col) & 1)
                    image[(row + top) * SIDE + col + left] = 1 - 0.5 * random_uniform(&state);
    }
}

/* Batches are cut out of the images as they stand: the first SEEN in a random order. */
static void shuffle(struct images *d) {
    uint64_t state = 3;
    for (size_t k = SEEN - 1; k > 0; k--) {
        const size_t other = (size_t)((double)(k + 1) * random_uniform(&state));
        const size_t label = d->label[k];
        d->label[k] = d->label[other];
        d->label[other] = label;
        for (size_t i = 0; i < PIXELS; i++) {
            const double pixel = d->pixel[i + k * PIXELS];
            d->pixel[i + k * PIXELS] = d->pixel[i + other * PIXELS];
            d->pixel[i + other * PIXELS] = pixel;
        }
    }
}

/* ---- the model --------------------------------------------------------------------------- */

static wg_mat layer(wg_tape *t, const wg_mat *p, wg_mat x) {
    return wg_mat_add(t, wg_matmul(t, p[0], x), p[1]);
}

/* A column of logits per image. */
static wg_mat logits(wg_tape *t, const wg_mat *p, wg_mat x) {
    x = wg_mat_relu(t, layer(t, p, x));
    x = wg_mat_relu(t, layer(t, p + 2, x));
    return layer(t, p + 4, x);
}

struct context {
    wg_tape *tape;
    struct images *images;
    size_t first, count; /* the images of this batch */
};

static wg_status loss(wg_tape *t, size_t n, const wg_mat *p, size_t m, wg_mat *y, void *data) {
    const struct context *c = data;
    (void)n, (void)m;
    const wg_mat batch =
        wg_mat_constant(t, PIXELS, c->count, c->images->pixel + c->first * PIXELS, PIXELS);
    const wg_mat each =
        wg_mat_cross_entropy(t, logits(t, p, batch), c->images->label + c->first, WG_EACH_COL);
    y[0] = wg_mat_from_real(t, wg_mat_mean(t, each));
    return WG_OK;
}

/* How many of these images are recognised. */
static size_t recognised(struct context *c, const wg_mat_result *x, size_t first,
                         size_t count) {
    wg_tape *t = c->tape;
    wg_mat p[PARTS];
    wg_tape_reset(t);
    for (size_t i = 0; i < PARTS; i++)
        p[i] = wg_mat_constant(t, x[i].rows, x[i].cols, x[i].value, x[i].rows);
    const wg_mat all =
        wg_mat_constant(t, PIXELS, count, c->images->pixel + first * PIXELS, PIXELS);
    const wg_mat y = logits(t, p, all);
    size_t right = 0;
    for (size_t k = 0; k < count && y.value != NULL; k++) {
        size_t best = 0;
        for (size_t i = 1; i < CLASSES; i++)
            if (wg_value(wg_mat_at(y, i, k)) > wg_value(wg_mat_at(y, best, k))) best = i;
        right += best == c->images->label[first + k];
    }
    wg_tape_reset(t);
    return right;
}

/* The matrices of the parameters, in one array. */
static void cut(double *x, wg_mat_result *parts) {
    const size_t sizes[] = {PIXELS, FIRST, SECOND, THIRD};
    for (size_t l = 0; l < PARTS / 2; l++) {
        parts[2 * l] = (wg_mat_result){x, sizes[l + 1], sizes[l], 0};
        x += sizes[l + 1] * sizes[l];
        parts[2 * l + 1] = (wg_mat_result){x, sizes[l + 1], 1, 0};
        x += sizes[l + 1];
    }
}

/* Adam, a step per batch and a line per epoch. g, state: room for a gradient and for what Adam
 * remembers. */
static wg_status train(struct context *c, const wg_mat_result *x, const wg_mat_result *g,
                       double *state) {
    const wg_descent adam = {.rule = WG_ADAM,
                             .rate = 0.005,
                             .schedule = WG_RATE_COSINE,
                             .period = EPOCHS * BATCHES,
                             .clip_norm = 5};
    wg_mat_values at[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        at[i] = (wg_mat_values){x[i].value, x[i].rows, x[i].cols, x[i].ld};
    printf("epoch      loss   rate     seen   unseen\n");
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        double mean = 0;
        for (size_t k = 0; k < BATCHES; k++) {
            const size_t step = epoch * BATCHES + k;
            double value;
            c->first = k * BATCH;
            c->count = c->first + BATCH < SEEN ? BATCH : SEEN - c->first;
            wg_status s = wg_mat_gradient(c->tape, loss, c, PARTS, at, &value, g);
            if (s == WG_OK) s = wg_mat_descent_step(&adam, step, PARTS, x, g, state);
            if (s != WG_OK) return s;
            mean += value / BATCHES;
        }
        printf("%5zu  %8.4f  %5.4f  %5.1f %%  %5.1f %%\n", epoch + 1, mean,
               wg_descent_rate(&adam, (epoch + 1) * BATCHES),
               100.0 * (double)recognised(c, x, 0, SEEN) / SEEN,
               100.0 * (double)recognised(c, x, SEEN, UNSEEN) / UNSEEN);
    }
    return WG_OK;
}

/* Uniform, as large as lets the signal through: Glorot, Bengio 2010. */
static void start(double *x) {
    const size_t sizes[] = {PIXELS, FIRST, SECOND, THIRD};
    uint64_t state = 1;
    for (int l = 0; l < 3; l++) {
        const double bound = sqrt(6 / (double)(sizes[l] + sizes[l + 1]));
        for (size_t i = 0; i < sizes[l] * sizes[l + 1]; i++)
            *x++ = bound * (2 * random_uniform(&state) - 1);
        for (size_t i = 0; i < sizes[l + 1]; i++) *x++ = 0;
    }
}

int main(int argc, char **argv) {
    const char *path = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";
    if (argc > 1) path = argv[1];
    struct context c = {.tape = wg_tape_new(NULL), .images = calloc(1, sizeof *c.images)};
    double *x = calloc(4 * PARAMETERS, sizeof *x); /* and the gradient, and Adam's state */
    int is_right = 0;
    if (c.tape != NULL && c.images != NULL && x != NULL) {
        const int is_read = read_images(path, c.images);
        if (is_read) printf("%d handwritten digits of %s\n", (int)IMAGES, path);
        else
            printf("%s (apt-get install python3-sklearn%s): drawn digits instead\n",
                   HAVE_ZLIB ? "no digits.csv.gz" : "no zlib", HAVE_ZLIB ? "" : " zlib1g-dev");
        if (!is_read) draw_images(c.images);
        shuffle(c.images);
        start(x);
        wg_mat_result parts[PARTS], gradient[PARTS];
        cut(x, parts);
        cut(x + PARAMETERS, gradient);
        const wg_status status = train(&c, parts, gradient, x + 2 * PARAMETERS);
        if (status != WG_OK)
            fprintf(stderr, "digits: %s: %s\n", wg_status_text(status),
                    wg_tape_message(c.tape));
        const size_t right = recognised(&c, parts, SEEN, UNSEEN);
        is_right = status == WG_OK && right >= DEMANDED;
        printf("%zu of %d unseen digits recognised%s\n", right, (int)UNSEEN,
               is_right ? "" : ": NOT ENOUGH");
    }
    wg_tape_free(c.tape);
    free(c.images);
    free(x);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
