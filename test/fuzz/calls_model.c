/* SPDX-License-Identifier: MIT */
/* calls_model.c - rows: models. */
#include "calls.h"

static const char *const words[] = {"x", "w", "b", "y", "loss", "n1", "n2", "two words", ""};
enum { GOOD_WORDS = 7, WORDS = sizeof words / sizeof *words };
static const char *a_word(const char *name) {
    const char *const w =
        one_in(20) ? NULL : words[one_in(20) ? below(WORDS) : below(GOOD_WORDS)];
    named(name, w != NULL ? "\"%s\"" : "NULL", w);
    return w;
}

/* The one drawn; call.room is that of its tape. */
static size_t which;
static wg_model *draw_model(const char *name) {
    which = below(MODELS);
    if (world.model[which].model == NULL) which = (which + 1) % MODELS;
    if (world.model[which].tape < TAPES) call.room = &world.room[world.model[which].tape];
    if (one_in(60) || world.model[which].model == NULL) {
        named(name, "NULL");
        return NULL;
    }
    /* a tape in failure does nothing more, and a model stays where a rewind keeps it */
    wg_tape *const t = call.room->tape;
    if (wg_tape_status(t) != WG_OK && !one_in(3)) {
        aside("wg_tape_rewind(t%zu, mark 0), or a reset", room_number(call.room));
        if (wg_tape_rewind(t, call.room->mark[0]) != WG_OK) wg_tape_reset(t);
    }
    named(name, "model %zu", which);
    return world.model[which].model;
}
#define MODEL(v) wg_model *const v = draw_model(#v)

static wg_mat draw_node(const char *name) {
    const size_t k = below(NODES);
    const wg_mat a = world.model[which].node[k];
    if (one_in(20)) return draw_any_mat(name);
    named(name, "{node %zu, %zux%zu, slot %u}", k, a.rows, a.cols, a.at.slot);
    return a;
}
#define NODE(v) const wg_mat v = draw_node(#v)
static void keep_node(wg_mat a) {
    world.model[which].node[below(NODES)] = a;
    keep_mat(a);
}
#define GIVES_NODE(e) (say("node", #e), keep_node(e))

ROW(wg_model_new) {
    CODE_TAPE(t);
    const size_t k = below(MODELS);
    model_close(k);
    wg_model **const out = one_in(60) ? NULL : &world.model[k].model;
    world.model[k].tape = room_number(call.room);
    for (size_t i = 0; i < NODES; i++) world.model[k].node[i] = wg_mat_failed(1, 1);
    GIVES_STATUS(wg_model_new(t, out));
    which = k;
    wg_model *const m = world.model[k].model;
    if (m == NULL) return;
    const wg_dim two = {NULL, 2}, one = {"one", 1};
    world.model[k].node[0] = wg_model_placeholder(m, "x", two, one, 0, NULL);
    world.model[k].node[1] = wg_model_variable(m, "w", two, two, wg_initial_normal(1, 0, 0.5));
    world.model[k].node[2] =
        wg_model_op(m, wg_matmul, world.model[k].node[1], world.model[k].node[0]);
    world.model[k].node[3] = wg_model_op(m, wg_mat_tanh, world.model[k].node[2]);
    call.room->mark[0] = t != NULL ? wg_tape_mark(t) : call.room->mark[0];
}
ROW(wg_model_free) {
    say("", "wg_model_free(m)");
    model_close(below(MODELS));
}
static wg_dim draw_dimension(const char *name) {
    static const char *const axes[] = {NULL, NULL, "one", "two"};
    const wg_dim d = {axes[below(4)], one_in(20) ? draw_size(name) : 1 + below(3)};
    named(name, "{%s, %zu}", d.name != NULL ? d.name : "NULL", d.size);
    return d;
}
/* More than has values: they are made of zeros. */
static int large(wg_dim a, wg_dim b) { return a.size > 50 || b.size > 50; }
ROW(wg_model_placeholder) {
    MODEL(m);
    const char *const name = a_word("name");
    const wg_dim rows = draw_dimension("rows"), cols = draw_dimension("cols");
    const unsigned flags = one_in(20) ? (unsigned)below(20) : (unsigned)below(4);
    const double *const sample =
        one_in(2) || large(rows, cols) ? NULL : draw_doubles("sample", rows.size * cols.size);
    GIVES_NODE(wg_model_placeholder(m, name, rows, cols, flags, sample));
}
ROW(wg_model_variable) {
    MODEL(m);
    const char *const name = a_word("name");
    const wg_dim rows = draw_dimension("rows"), cols = draw_dimension("cols");
    if (large(rows, cols) && rows.size < UINT32_MAX && cols.size < UINT32_MAX) return;
    wg_initial initial;
    switch (below(5)) {
    case 0:
        initial = wg_initial_fill(number());
        break;
    case 1:
        initial = wg_initial_uniform(draw(), -1, one_in(8) ? number() : 1);
        break;
    case 2:
        initial = wg_initial_normal(draw(), 0, one_in(8) ? number() : 1);
        break;
    case 3:
        initial = wg_initial_values(
            large(rows, cols) ? NULL : draw_doubles("values", rows.size * cols.size));
        break;
    default:
        initial = wg_initial_fill(1);
        if (one_in(8)) initial.kind = 9;
    }
    named("initial", "{kind %d, %.17g, %.17g}", initial.kind, initial.a, initial.b);
    GIVES_NODE(wg_model_variable(m, name, rows, cols, initial));
}
ROW(wg_model_op1) {
    MODEL(m);
    NODE(a);
    wg_mat (*const f)(wg_tape *, wg_mat) = one_in(40)  ? NULL
                                           : one_in(2) ? wg_mat_tanh
                                           : one_in(2) ? wg_inverse
                                                       : wg_mat_copy;
    GIVES_NODE(wg_model_op(m, f, a));
}
ROW(wg_model_op2) {
    MODEL(m);
    NODE(a);
    NODE(b);
    wg_mat (*const f)(wg_tape *, wg_mat, wg_mat) = one_in(40)  ? NULL
                                                   : one_in(2) ? (wg_mat_add)
                                                   : one_in(2) ? wg_matmul
                                                               : wg_solve;
    GIVES_NODE(wg_model_op(m, f, a, b));
}
ROW(wg_model_op3) {
    MODEL(m);
    NODE(a);
    NODE(b);
    NODE(c);
    wg_mat (*const f)(wg_tape *, wg_mat, wg_mat, wg_mat) = one_in(40)  ? NULL
                                                           : one_in(2) ? wg_mat_fma
                                                                       : wg_sylvester;
    GIVES_NODE(wg_model_op(m, f, a, b, c));
}
ROW(wg_model_name) {
    MODEL(m);
    NODE(a);
    const char *const name = a_word("name"), *const rows = a_word("rows");
    const char *const cols = a_word("cols");
    GIVES_NODE(wg_model_name(m, a, name, rows, cols));
}
ROW(wg_model_tag) {
    MODEL(m);
    NODE(a);
    const char *const tag = a_word("tag");
    GIVES_STATUS(wg_model_tag(m, a, tag));
}
ROW(wg_model_sum) {
    MODEL(m);
    NODE(a);
    GIVES_NODE(wg_model_sum(m, a));
}
ROW(wg_model_gradient) {
    MODEL(m);
    NODE(y);
    wg_mat x_[3], dx_[3];
    const size_t n = one_in(12) ? below(4) : 1;
    for (size_t i = 0; i < 3; i++) x_[i] = draw_node("x"), dx_[i] = wg_mat_failed(1, 1);
    if (!one_in(4)) x_[0] = world.model[which].node[below(2)];
    const wg_mat *const x = one_in(60) ? NULL : x_;
    wg_mat *const dx = one_in(60) ? NULL : dx_;
    GIVES_STATUS(wg_model_gradient(m, y, n, x, dx));
    keep_node(dx_[0]);
}
ROW(wg_model_node) {
    MODEL(m);
    NODE(a);
    wg_node room, *const out = one_in(40) ? NULL : &room;
    GIVES_STATUS(wg_model_node(m, a, out));
}
ROW(wg_model_find) {
    MODEL(m);
    wg_mat found[NODES];
    NODE(y);
    const char *const name = one_in(2) ? NULL : a_word("name");
    const char *const tag = one_in(2) ? NULL : a_word("tag");
    const unsigned kinds = (unsigned)below(17);
    const size_t room = below(NODES);
    wg_mat *const out = one_in(40) ? NULL : found;
    const wg_mat *const of = one_in(2) ? NULL : &y;
    GIVES_NUMBER(wg_model_find(m, kinds, name, tag, of, room, out));
}
#define SHOWN(name)                                                                            \
    ROW(name) {                                                                                \
        MODEL(m);                                                                              \
        int left = one_in(3) ? (int)below(5) : 1 << 30;                                        \
        wg_write *const write = one_in(40) ? NULL : fuzz_write;                                \
        GIVES_STATUS(name(m, write, &left));                                                   \
    }
SHOWN(wg_model_print)
SHOWN(wg_model_dot)
ROW(wg_model_update) {
    MODEL(m);
    NODE(variable);
    NODE(next);
    GIVES_STATUS(wg_model_update(m, variable, next));
}
ROW(wg_model_function) {
    MODEL(m);
    wg_mat y_[3];
    const size_t count = one_in(12) ? below(4) : 1;
    for (size_t i = 0; i < 3; i++) y_[i] = draw_node("y");
    const wg_mat *const y = one_in(60) ? NULL : y_;
    named("count", "%zu", count);
    GIVES_FUNCTION(out, wg_model_function(m, count, y, &out));
}
ROW(wg_model_feed) {
    static double steady[512];
    if (steady[0] == 0)
        for (size_t i = 0; i < 512; i++) steady[i] = 0.5 + 0.25 * cos((double)i);
    MODEL(m);
    NODE(placeholder);
    const double *const data = one_in(40) ? NULL : steady;
    const ptrdiff_t point = (ptrdiff_t)below(8), entry = (ptrdiff_t)below(2);
    GIVES_STATUS(wg_model_feed(m, placeholder, data, point, entry));
}
ROW(wg_model_run) {
    MODEL(m);
    wg_function *made = NULL;
    const wg_mat y0 = draw_node("y");
    if (!one_in(4) && m != NULL) {
        aside("function = wg_model_function(model, 1, y)");
        keep_status(wg_model_function(m, 1, &y0, &made));
    }
    const wg_function *const f = made != NULL ? made : draw_function("f");
    POOL(threads);
    const size_t points = below(9), outputs = wg_function_outputs(f);
    wg_results y_[16];
    size_t entries = 0;
    for (size_t i = 0; i < 16; i++) y_[i] = (wg_results){results + i * 2048, 64, 1};
    for (size_t i = 0; i < outputs; i++)
        entries += wg_function_output(f, i)->rows * wg_function_output(f, i)->cols;
    if (outputs <= 16 && entries < 200) {
        const wg_results *const y = one_in(4) ? NULL : y_;
        named("points", "%zu", points);
        GIVES_STATUS(wg_model_run(m, f, points, y, threads));
    }
    wg_function_free(made);
}
ROW(wg_model_values) {
    MODEL(m);
    NODE(variable);
    say("", "wg_model_values(m, variable)");
    double *const v = wg_model_values(m, variable);
    if (v != NULL && variable.rows != 0 && variable.cols != 0) v[0] += 0.5, sink = v[0];
}
ROW(wg_model_initialise) {
    MODEL(m);
    GIVES_STATUS(wg_model_initialise(m));
}

/* ---- saved ---- */

ROW(wg_model_save) {
    MODEL(m);
    struct file f = draw_file("&f");
    wg_write *const write = one_in(40) ? NULL : to_file;
    GIVES_STATUS(wg_model_save(m, write, &f));
}
ROW(wg_model_restore) {
    MODEL(m);
    struct file f = draw_file("&f");
    if (one_in(3) && world.file[f.which].length != 0)
        world.file[f.which].bytes[below(world.file[f.which].length)] =
            (unsigned char)below(256);
    wg_read *const read = one_in(40) ? NULL : from_file;
    GIVES_STATUS(wg_model_restore(m, read, &f));
}

static const struct row list[] = {
    LISTED(wg_model_new, 6),      LISTED(wg_model_free, 1),     LISTED(wg_model_placeholder, 6),
    LISTED(wg_model_variable, 6), LISTED(wg_model_op1, 8),      LISTED(wg_model_op2, 8),
    LISTED(wg_model_op3, 4),      LISTED(wg_model_name, 4),     LISTED(wg_model_tag, 3),
    LISTED(wg_model_sum, 4),      LISTED(wg_model_gradient, 8), LISTED(wg_model_node, 2),
    LISTED(wg_model_find, 3),     LISTED(wg_model_print, 2),    LISTED(wg_model_dot, 2),
    LISTED(wg_model_update, 4),   LISTED(wg_model_function, 6), LISTED(wg_model_feed, 4),
    LISTED(wg_model_run, 10),     LISTED(wg_model_values, 3),   LISTED(wg_model_initialise, 2),
    LISTED(wg_model_save, 3),     LISTED(wg_model_restore, 3),
};
const struct rows calls_model = ROWS(list);
