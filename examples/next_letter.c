/* SPDX-License-Identifier: MIT */
/* Which letter comes next? An affine layer with softmax over looked-up embeddings.
 *
 *     p(next | letter) = softmax(W e(letter) + b),  e(letter) a column of a table
 *
 * Table, W and b are trained on the Gettysburg Address (Lincoln 1863). What can be reached is
 * known by counting: no model of this kind is better than the frequencies of the pairs of
 * letters in the text. The exit status is 0 when the loss is above that bound and within 1 % of
 * it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

#include "print_step.h"
#include "random_numbers.h"

static const char text[] =
    "Four score and seven years ago our fathers brought forth on this continent, a new nation, "
    "conceived in Liberty, and dedicated to the proposition that all men are created equal. Now "
    "we are engaged in a great civil war, testing whether that nation, or any nation so "
    "conceived and so dedicated, can long endure. We are met on a great battle-field of that "
    "war. We have come to dedicate a portion of that field, as a final resting place for those "
    "who here gave their lives that that nation might live. It is altogether fitting and proper "
    "that we should do this. But, in a larger sense, we can not dedicate, we can not "
    "consecrate, we can not hallow this ground. The brave men, living and dead, who struggled "
    "here, have consecrated it, far above our poor power to add or detract. The world will "
    "little note, nor long remember what we say here, but it can never forget what they did "
    "here. It is for us the living, rather, to be dedicated here to the unfinished work which "
    "they who fought here have thus far so nobly advanced. It is rather for us to be here "
    "dedicated to the great task remaining before us, that from these honored dead we take "
    "increased devotion to that cause for which they gave the last full measure of devotion, "
    "that we here highly resolve that these dead shall not have died in vain, that this nation, "
    "under God, shall have a new birth of freedom, and that government of the people, by the "
    "people, for the people, shall not perish from the earth.";

enum {
    LETTERS = 27,
    WIDTH = 12,
    MOST = sizeof text
}; /* a to z, and what stands between words */
enum { TABLE = WIDTH * LETTERS, PARAMETERS = 2 * TABLE + LETTERS, PARTS = 3 };

struct context {
    wg_tape *tape;
    size_t letter[MOST], count; /* pairs are letter[k], letter[k + 1], k < count */
    double pairs[LETTERS][LETTERS];
};

static void read_text(struct context *c) {
    size_t n = 0;
    for (const char *p = text; *p != 0; p++) {
        const int is_letter = isalpha((unsigned char)*p) != 0;
        const size_t letter =
            is_letter ? (size_t)(tolower((unsigned char)*p) - 'a') : LETTERS - 1;
        if (is_letter || n == 0 || c->letter[n - 1] != letter) c->letter[n++] = letter;
    }
    c->count = n - 1;
    for (size_t k = 0; k < c->count; k++) c->pairs[c->letter[k]][c->letter[k + 1]]++;
}

/* The mean of -log p(next | letter) for the frequencies themselves. */
static double bound(const struct context *c) {
    double sum = 0;
    for (size_t i = 0; i < LETTERS; i++) {
        double total = 0;
        for (size_t j = 0; j < LETTERS; j++) total += c->pairs[i][j];
        for (size_t j = 0; j < LETTERS; j++)
            if (c->pairs[i][j] > 0) sum -= c->pairs[i][j] * log(c->pairs[i][j] / total);
    }
    return sum / (double)c->count;
}

/* A column of logits for each of n letters. p: the table, W, b. */
static wg_mat logits(wg_tape *t, const wg_mat *p, size_t n, const size_t *letter) {
    return wg_mat_add(t, wg_matmul(t, p[1], wg_embedding(t, p[0], n, letter)), p[2]);
}

static wg_status loss(wg_tape *t, size_t n, const wg_mat *p, size_t m, wg_mat *y, void *data) {
    const struct context *c = data;
    (void)n, (void)m;
    const wg_mat each =
        wg_mat_cross_entropy(t, logits(t, p, c->count, c->letter), c->letter + 1, WG_EACH_COL);
    y[0] = wg_mat_from_real(t, wg_mat_mean(t, each));
    return WG_OK;
}

/* The three most likely letters after some, beside their frequencies. */
static void print_next(const struct context *c, const wg_mat_result *x) {
    static const size_t after[] = {'t' - 'a', 'h' - 'a', 'v' - 'a', 'o' - 'a', LETTERS - 1};
    enum { N = sizeof after / sizeof after[0] };
    wg_mat p[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        p[i] = wg_mat_constant(c->tape, x[i].rows, x[i].cols, x[i].value, x[i].rows);
    const wg_mat y = wg_mat_softmax(c->tape, logits(c->tape, p, N, after), WG_EACH_COL);
    if (y.value == NULL) return;
    printf("after   most likely, probability (frequency)\n");
    for (size_t k = 0; k < N; k++) {
        double total = 0, last = 2;
        for (size_t j = 0; j < LETTERS; j++) total += c->pairs[after[k]][j];
        printf("  %c  ", "abcdefghijklmnopqrstuvwxyz_"[after[k]]);
        for (int rank = 0; rank < 3; rank++) {
            size_t best = LETTERS;
            for (size_t j = 0; j < LETTERS; j++) {
                const double q = wg_value(wg_mat_at(y, j, k));
                if (q < last && (best == LETTERS || q > wg_value(wg_mat_at(y, best, k))))
                    best = j;
            }
            if (best == LETTERS) break;
            last = wg_value(wg_mat_at(y, best, k));
            printf("   %c %.3f (%.3f)", "abcdefghijklmnopqrstuvwxyz_"[best], last,
                   c -> pairs[after[k]][best] / total);
        }
        printf("\n");
    }
}

int main(void) {
    struct context c = {.tape = wg_tape_new(NULL)};
    if (c.tape == NULL) return EXIT_FAILURE;
    double x[PARAMETERS];
    uint64_t state = 1;
    for (size_t i = 0; i < PARAMETERS; i++) x[i] = 0.3 * random_normal(&state);
    read_text(&c);
    const wg_mat_result parameters[PARTS] = {
        {x, WIDTH, LETTERS, 0}, {x + TABLE, LETTERS, WIDTH, 0}, {x + 2 * TABLE, LETTERS, 1, 0}};
    const wg_minimise_options o = {
        .method = WG_DESCENT,
        .limit = 400,
        .descent = {.rule = WG_ADAM, .rate = 0.05, .schedule = WG_RATE_COSINE},
        .progress = print_step};
    wg_minimise_result r;
    const wg_status status = wg_mat_minimise(c.tape, loss, &c, PARTS, parameters, &o, &r);
    const double least = bound(&c);
    const int is_right = status == WG_OK && r.value >= least && r.value <= 1.01 * least;
    print_next(&c, parameters);
    printf("loss %.6f after %zu steps, the frequencies have %.6f%s\n", r.value, r.steps, least,
           is_right ? "" : ": NOT NEAR");
    if (status != WG_OK) fprintf(stderr, "next_letter: %s\n", wg_tape_message(c.tape));
    wg_tape_free(c.tape);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
