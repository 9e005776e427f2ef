/* SPDX-License-Identifier: MIT */
/* test_ops_einsum.c - sums of products by names of dimensions, against loops over all of
 * them. */
#include "derived_case.h"
#include "written_out.h"

/* A sum of products against the same sum in another order. */
#define TOL_SUMS 16.0

enum { LETTERS = 8 };

/* A text with the sizes of its dimensions, in the order in which they first appear. */
static const struct text {
    const char *text;
    size_t size[LETTERS];
    int said; /* some matrix has more than two */
} texts[] = {
    {"ij,jk->ik", {3, 4, 2}, 0},
    {"ij,jk->ki", {3, 4, 2}, 0},
    {"ij,kj->ik", {3, 4, 2}, 0},
    {"ji,jk->ik", {3, 4, 2}, 0},
    {"ij,ij->ij", {3, 4}, 0},
    {"ij,ij->ji", {3, 4}, 0},
    {"ij,ij->i", {3, 4}, 0},
    {"ij,ij->j", {3, 4}, 0},
    {"ij,ij->", {3, 4}, 0},
    {"ij,kl->", {2, 3, 4, 2}, 0},
    {"ij,j->i", {3, 4}, 0},
    {"i,j->ij", {3, 4}, 0},
    {"i,i->", {5}, 0},
    {"ij,kj->ikj", {3, 2, 4}, 0},
    {"ij,kl->jk", {3, 2, 2, 4}, 0},
    {"ijk,kl->ijl", {2, 3, 2, 4}, 1},
    {"ijk,ikl->ijl", {2, 3, 2, 4}, 1},
    {"ijkl,lm->imjk", {2, 2, 3, 2, 2}, 1},
    {"ijk,jk->i", {3, 2, 4}, 1},
    {",->", {1}, 0},
    {"ij,jk->ik", {3, 0, 2}, 0},
    {"ij,jk->ik", {0, 3, 2}, 0},
    {"i,->i", {3}, 0},
    {"ijkl,ilj->", {2, 0, 2, 2}, 1},
    {"ijkl,ilj->", {2, 2, 0, 2}, 1},
    {"ijkl,ijkm->lj", {2, 2, 0, 2, 2}, 1},
    {"ijkl,jlkm->l", {0, 2, 2, 2, 2}, 1},
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* The names of all dimensions, in the order in which they first appear. */
static size_t names(const char *text, char *name) {
    size_t n = 0;
    for (; *text != 0; text++) {
        if (*text < 'a' || *text > 'z') continue;
        size_t i = 0;
        while (i < n && name[i] != *text) i++;
        if (i == n) name[n++] = *text;
    }
    return n;
}
/* The letters of a part of the text. */
static const char *part(const char *text, int k, size_t *count) {
    for (; k > 0; k--) {
        while (*text != ',' && *text != '-') text++;
        text += *text == ',' ? 1 : 2;
    }
    for (*count = 0; text[*count] >= 'a' && text[*count] <= 'z';) ++*count;
    return text;
}
static size_t index_in(const char *name, char c) {
    size_t i = 0;
    while (name[i] != c) i++;
    return i;
}
static void shape_of(const struct text *x, int k, size_t *rows, size_t *cols) {
    char name[LETTERS];
    size_t count;
    const char *const letter = part(x->text, k, &count);
    (void)names(x->text, name);
    *rows = *cols = 1;
    for (size_t i = 0; i < count; i++)
        *(i == 0 ? rows : cols) *= x->size[index_in(name, letter[i])];
}
/* The place of an element in a matrix without gaps. */
static size_t place(const struct text *x, int k, const char *name, const size_t *at) {
    size_t count, step = 1, e = 0;
    const char *const letter = part(x->text, k, &count);
    for (size_t i = 0; i < count; i++) {
        const size_t which = index_in(name, letter[i]);
        e += step * at[which], step *= x->size[which];
    }
    return e;
}

static void sums_are_those_of_loops(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (size_t k = 0; k < TEXTS; k++) {
        const struct text *const x = &texts[k];
        double v[2][64], want[64] = {0}, got[64];
        size_t rows[3], cols[3], at[LETTERS] = {0}, all = 1;
        char name[LETTERS];
        const size_t n = names(x->text, name);
        wg_tape_reset(t);
        wg_mat in[2];
        for (int o = 0; o < 3; o++) shape_of(x, o, &rows[o], &cols[o]);
        for (int o = 0; o < 2; o++) {
            for (size_t i = 0; i < rows[o] * cols[o]; i++) v[o][i] = walk_number(&seed);
            in[o] = wg_mat_input(t, rows[o], cols[o], v[o], rows[o] != 0 ? rows[o] : 1);
        }
        for (size_t i = 0; i < n; i++) all *= x->size[i];
        for (size_t e = 0; e < all; e++) {
            size_t rest = e;
            for (size_t i = 0; i < n; i++) at[i] = rest % x->size[i], rest /= x->size[i];
            want[place(x, 2, name, at)] +=
                v[0][place(x, 0, name, at)] * v[1][place(x, 1, name, at)];
        }
        const wg_mat y = wg_einsum(t, x->text, x->said ? x->size : NULL, in[0], in[1]);
        if (wg_tape_status(t) != WG_OK) fail_msg("%s: %s", x->text, wg_tape_message(t));
        if (y.rows != rows[2] || y.cols != cols[2])
            fail_msg("%s is %zux%zu, not %zux%zu", x->text, y.rows, y.cols, rows[2], cols[2]);
        assert_int_equal(wg_mat_value(t, y, got, y.rows != 0 ? y.rows : 1), WG_OK);
        for (size_t i = 0; i < rows[2] * cols[2]; i++)
            if (!(fabs(got[i] - want[i]) <= TOL_SUMS * DBL_EPSILON))
                fail_msg("%s: element %zu is %.17g, not %.17g", x->text, i, got[i], want[i]);
    }
    wg_tape_free(t);
}

static void of_product(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_einsum(t, "ij,kj->ik", NULL, in[0], in[1]));
}
static void of_batch(wg_tape *t, const wg_mat *in, derived_sum *s) {
    static const size_t size[] = {2, 2, 3, 4};
    derived_matrix(s, wg_einsum(t, "ijk,ikl->ijl", size, in[0], in[1]));
}
static void of_summed(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_einsum(t, "ij,kl->jk", NULL, in[0], in[1]));
}
static void of_square(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_einsum(t, "ij,ij->i", NULL, in[0], in[0]));
}

static const derived_case cases[] = {
    {"einsum, product", of_product, {3, 2}, {4, 4}, {0, 0}},
    {"einsum, batch", of_batch, {2, 2}, {6, 12}, {0, 0}},
    {"einsum, summed", of_summed, {3, 2}, {2, 4}, {0, 0}},
    {"einsum, squares", of_square, {3}, {4}, {0}},
};

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) derived_check(&cases[i]);
}

static void what_makes_no_sense_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
        wg_status due;
    } wrong[] = {
        {"ij,jk", "form", WG_EARG},           {"ij->ij", "form", WG_EARG},
        {"ij,jk-ik", "form", WG_EARG},        {"ii,jk->i", "twice", WG_EARG},
        {"ij,jk->il", "no operand", WG_EARG}, {"i1,jk->i", "one letter", WG_EARG},
        {"abcde,jk->a", "four", WG_EARG},     {"ij,ij->ij", "two sizes", WG_ESHAPE},
        {"i,ij->ij", "operand", WG_ESHAPE},   {"ijk,jk->i", "need sizes", WG_ESHAPE},
    };
    static const double v[6] = {0};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wg_tape_reset(t);
        const wg_mat a = wg_mat_input(t, 2, 3, v, 2), b = wg_mat_input(t, 3, 2, v, 3);
        const wg_mat y = wg_einsum(t, wrong[i].text, NULL, a, b);
        if (wg_tape_status(t) != wrong[i].due || y.value != NULL ||
            strstr(wg_tape_message(t), "wg_einsum") == NULL ||
            strstr(wg_tape_message(t), wrong[i].why) == NULL)
            fail_msg("%s: %s", wrong[i].text, wg_tape_message(t));
    }
    wg_tape_free(t);
}

static void write_batch(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                        const void *data) {
    (void)data;
    written_out_put(r, wg_einsum(t, "ij,kj->ikj", NULL, in[0], in[1]));
}
static void functions_of_them_are_the_same(void **state) {
    (void)state;
    const struct written_out c = {
        .name = "einsum", .record = write_batch, .in = {{2, 3, PLAIN}, {2, 3, PLAIN}}};
    written_out_check(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_loops),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
        cmocka_unit_test_setup_teardown(functions_of_them_are_the_same, written_out_open,
                                        written_out_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
