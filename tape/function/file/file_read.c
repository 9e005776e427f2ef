/* SPDX-License-Identifier: MIT */
/* Reads functions: the head of a file, arguments and repeats. Nodes are read in file_nodes.c.
 */
#include "tape/engine/drive.h"
#include "tape/function/run/bytecode.h"
#include "file.h"
#include "tape/function/graph/layout.h"

#include <wengert/file.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_AT = 16, START = 24, HEADER = 128, CHECKSUM = 8 };
enum { ARGUMENT = 24, REPEAT = 9 + 8 * 8 };
_Static_assert(START + 8 * (int)WGI_FILE_REPEATS == HEADER, "the counts of version 1");

wg_status wgi_file_bad(const wgi_file_reader *r, wg_status s, const char *format, ...) {
    char what[384];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return wgi_fail(r->c, s, "%s: at byte %zu: %s%s", r->call, r->at,
                    r->depth != 0 ? "in a body: " : "", what);
}

wg_status wgi_file_ends(const wgi_file_reader *r, const char *what, uint64_t number) {
    return wgi_file_bad(r, WG_EARG, "%s %llu does not fit into what is left", what,
                        (unsigned long long)number);
}

/* ---- the whole ---- */

/* Reads magic, version and length, for which START bytes are enough. */
static wg_status preamble(wgi_file_reader *r, size_t bytes, uint64_t *length) {
    const size_t common = bytes < sizeof wgi_file_magic ? bytes : sizeof wgi_file_magic;
    if (memcmp(r->base, wgi_file_magic, common) != 0)
        return wgi_file_bad(r, WG_EARG, "these %zu bytes are no function", bytes);
    if (bytes < START) return wgi_file_bad(r, WG_EARG, "cut short: %zu bytes", bytes);
    r->at = sizeof wgi_file_magic;
    r->version = wgi_file_get(r, 4);
    r->claims = wgi_file_get(r, 4);
    if (r->version < WGI_FILE_SCALARS || r->version > WGI_FILE_VERSION || r->claims > 1) {
        r->at = sizeof wgi_file_magic;
        return wgi_file_bad(r, WG_EARG, "version %llu.%llu; this library reads %d to %d",
                            (unsigned long long)r->version, (unsigned long long)r->claims,
                            WGI_FILE_SCALARS, WGI_FILE_VERSION);
    }
    *length = wgi_file_get(r, 8);
    if (*length < HEADER + (r->version > WGI_FILE_SCALARS ? 8u : 0) + CHECKSUM)
        return wgi_file_bad(wgi_file_at(r, LENGTH_AT), WG_EARG, "%llu bytes in all are too few",
                            (unsigned long long)*length);
    return WG_OK;
}

static void words(wgi_file_reader *r, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
        r->word_at[i] = r->at;
        r->word[i] = wgi_file_get(r, 8);
    }
}

/* Can the bytes that are left hold that many of everything? */
static wg_status counts(wgi_file_reader *r) {
    static const unsigned char unit[WGI_FILE_WORDS] = {
        ARGUMENT, ARGUMENT, 1, 1, 4, 4, WGI_FILE_GUARD_BYTES, [WGI_FILE_REPEATS] = REPEAT};
    uint64_t room = wgi_file_left(r);
    for (size_t i = 0; i < WGI_FILE_WORDS; i++) {
        if (unit[i] == 0) continue;
        if (r->word[i] > room / unit[i]) {
            r->at = r->word_at[i];
            return wgi_file_ends(r, "a count of", r->word[i]);
        }
        room -= r->word[i] * unit[i];
    }
    for (size_t i = 0; i < WGI_FILE_WORDS; i++)
        if (r->word[i] > SIZE_MAX / 64)
            return wgi_file_bad(wgi_file_at(r, r->word_at[i]), WG_EARG, "a count of %llu",
                                (unsigned long long)r->word[i]);
    if (r->word[WGI_FILE_NODES] >= UINT32_MAX / 4 ||
        r->word[WGI_FILE_OPERANDS] >= UINT32_MAX / 2)
        return wgi_file_bad(r, WG_EARG, "%zu nodes with %zu operands",
                            (size_t)r->word[WGI_FILE_NODES],
                            (size_t)r->word[WGI_FILE_OPERANDS]);
    return WG_OK;
}

/* Checks length, checksum and counts. */
static wg_status header(wgi_file_reader *r, size_t bytes) {
    uint64_t length;
    const wg_status s = preamble(r, bytes, &length);
    if (s != WG_OK) return s;
    if (length != bytes)
        return wgi_file_bad(wgi_file_at(r, LENGTH_AT), WG_EARG,
                            "%llu bytes in all, and %zu are there", (unsigned long long)length,
                            bytes);
    r->at = r->end = bytes - CHECKSUM;
    const uint64_t sum = wgi_checksum(WGI_CHECKSUM_START, r->base, r->end),
                   told = wgi_file_get(r, CHECKSUM);
    r->at = r->end;
    if (sum != told)
        return wgi_file_bad(r, WG_EARG,
                            "the checksum is %016llx, that of the bytes %016llx: damaged",
                            (unsigned long long)told, (unsigned long long)sum);
    r->at = START;
    words(r, 0, r->version > WGI_FILE_SCALARS ? WGI_FILE_WORDS : WGI_FILE_REPEATS);
    return counts(r);
}

/* ---- inputs and outputs ---- */

static wg_status argument(wgi_file_reader *r, const char *what, size_t k, unsigned flags,
                          wg_argument *a, size_t *entries, uint64_t most) {
    if (wgi_file_left(r) < ARGUMENT) return wgi_file_ends(r, what, k);
    const uint64_t rows = wgi_file_get(r, 8), cols = wgi_file_get(r, 8);
    a->flags = (unsigned)wgi_file_get(r, 4);
    const size_t bytes = (size_t)wgi_file_get(r, 4);
    if (bytes > wgi_file_left(r) || bytes > r->word[WGI_FILE_NAMES] - r->names)
        return wgi_file_ends(r, what, k);
    const char *const name = (const char *)r->base + r->at;
    if (!wgi_is_word(name, bytes))
        return wgi_file_bad(r, WG_EARG, "the name of %s %zu is no word", what, k);
    memcpy(r->name, name, bytes);
    r->name[bytes] = 0;
    a->name = r->name;
    r->name += bytes + 1;
    r->names += bytes;
    r->at += bytes;
    if (rows >= WGI_FILE_MOST || cols >= WGI_FILE_MOST ||
        (cols != 0 && rows > (most - *entries) / cols))
        return wgi_file_bad(r, WG_EARG, "%s %zu is %llu by %llu, and all entries are %llu",
                            what, k, (unsigned long long)rows, (unsigned long long)cols,
                            (unsigned long long)most);
    a->rows = (size_t)rows;
    a->cols = (size_t)cols;
    *entries += a->rows * a->cols;
    if ((a->flags & ~flags) != 0)
        return wgi_file_bad(r, WG_EARG, "flags %u of %s %zu", a->flags, what, k);
    return WG_OK;
}

static void sift_down(const char **name, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && strcmp(name[child], name[child + 1]) < 0) child++;
        if (strcmp(name[at], name[child]) >= 0) return;
        const char *const swap = name[at];
        name[at] = name[child];
        name[child] = swap;
    }
}

/* Refuses a name that occurs twice. Names are sorted for it, since a hostile file may have very
 * many. */
static wg_status unique(wgi_file_reader *r, const char *what, size_t count,
                        const wg_argument *a) {
    const char **const name = wg_tape_keep(&r->c->head, (count + 1) * sizeof *name, NULL);
    if (name == NULL) return r->c->status;
    for (size_t k = 0; k < count; k++) name[k] = a[k].name;
    for (size_t k = count / 2; k-- > 0;) sift_down(name, k, count);
    for (size_t n = count; n-- > 1;) {
        const char *const largest = name[0];
        name[0] = name[n];
        name[n] = largest;
        sift_down(name, 0, n);
        if (n + 1 < count && strcmp(name[n], name[n + 1]) == 0)
            return wgi_file_bad(r, WG_EARG, "two %ss have the name %.255s", what, name[n]);
    }
    if (count > 1 && strcmp(name[0], name[1]) == 0)
        return wgi_file_bad(r, WG_EARG, "two %ss have the name %.255s", what, name[0]);
    return WG_OK;
}

static wg_status arguments(wgi_file_reader *r, wg_function *f) {
    enum { ROLES = WGI_CARRIED | WGI_STEPPED };
    const unsigned in = r->depth != 0 ? WG_SHARED | (unsigned)ROLES : WG_SHARED | WG_PASSIVE;
    const unsigned out = r->depth != 0 ? WG_SUMMED | (unsigned)ROLES : WG_SUMMED;
    wg_status s = WG_OK;
    for (size_t k = 0; k < f->inputs && s == WG_OK; k++)
        s = argument(r, "input", k, in, &f->input[k], &f->n, r->word[WGI_FILE_NODES]);
    for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
        s = argument(r, "output", k, out, &f->output[k], &f->m, r->word[WGI_FILE_RESULTS]);
    if (s == WG_OK && f->m != r->word[WGI_FILE_RESULTS])
        s = wgi_file_bad(r, WG_EARG, "the outputs have %zu entries, not %zu", f->m,
                         (size_t)r->word[WGI_FILE_RESULTS]);
    if (s == WG_OK && r->names != r->word[WGI_FILE_NAMES])
        s = wgi_file_bad(r, WG_EARG, "the names have %zu bytes, not %zu", r->names,
                         (size_t)r->word[WGI_FILE_NAMES]);
    if (s == WG_OK) s = unique(r, "input", f->inputs, f->input);
    return s == WG_OK ? unique(r, "output", f->outputs, f->output) : s;
}

/* Checks the roles of the arguments of a body. */
static wg_status roles(const wgi_file_reader *r, const wg_function *f) {
    const size_t carried = wgi_body_carried(f);
    const unsigned shared = carried == 0 ? WG_SHARED : 0, summed = carried == 0 ? WG_SUMMED : 0;
    for (size_t k = 0; k < f->inputs; k++) {
        const unsigned flags = f->input[k].flags;
        if (k < carried ? flags != WGI_CARRIED : flags != WGI_STEPPED && flags != shared)
            return wgi_file_bad(r, WG_EARG, "flags %u of input %zu, after %zu states", flags, k,
                                carried);
    }
    if (carried > f->outputs)
        return wgi_file_bad(r, WG_EARG, "%zu states and %zu outputs", carried, f->outputs);
    for (size_t k = 0; k < f->outputs; k++) {
        const wg_argument *const a = &f->output[k];
        if (k < carried ? a->flags != WGI_CARRIED
                        : a->flags != WGI_STEPPED && a->flags != summed)
            return wgi_file_bad(r, WG_EARG, "flags %u of output %zu, after %zu states",
                                a->flags, k, carried);
        if (k < carried && (a->rows != f->input[k].rows || a->cols != f->input[k].cols))
            return wgi_file_bad(r, WG_EARG,
                                "state %zu is %zu by %zu, and %zu by %zu after a step", k,
                                f->input[k].rows, f->input[k].cols, a->rows, a->cols);
    }
    return WG_OK;
}

/* ---- repeats ---- */

static wg_status build(wgi_file_reader *r, wg_function **out);

/* Reads a repeat. Its body is a function by itself: nothing is remembered of the outer one but
 * the position in the file. */
static wg_status repeat(wgi_file_reader *r, size_t k, wgi_repeat *to) {
    if (r->depth == WGI_FILE_DEEPEST)
        return wgi_file_bad(r, WG_EARG, "more than %d bodies in bodies", WGI_FILE_DEEPEST);
    if (wgi_file_left(r) < REPEAT) return wgi_file_ends(r, "repeat", k);
    const uint64_t steps = wgi_file_get(r, 8), backwards = wgi_file_get(r, 1);
    if (steps < 1 || steps >= WGI_REPEAT_MOST || backwards > 2)
        return wgi_file_bad(r, WG_EARG, "repeat %zu: %llu steps, backwards %llu", k,
                            (unsigned long long)steps, (unsigned long long)backwards);
    wgi_file_reader in = *r;
    in.depth++;
    in.names = in.operands = 0;
    memset(in.word, 0, sizeof in.word);
    words(&in, 0, WGI_FILE_STATISTICS);
    words(&in, WGI_FILE_REPEATS, WGI_FILE_WORDS);
    wg_status s = counts(&in);
    if (s == WG_OK) s = build(&in, &to->body);
    if (s != WG_OK) return s;
    r->at = in.at;
    to->steps = (size_t)steps;
    to->backwards = backwards == 1;
    to->solves = backwards == 2;
    if (to->solves && !wgi_repeat_is_solver(to))
        return wgi_file_bad(r, WG_EARG, "repeat %zu: solves, and has not the arguments for it",
                            k);
    if (!wgi_repeat_fits(to))
        return wgi_file_bad(r, WG_EARG, "repeat %zu: %zu steps: more than %d numbers", k,
                            to->steps, WGI_REPEAT_MOST);
    r->shape[k].of = wgi_repeat_shape(NULL, to);
    r->shape[k].used = 0;
    return WG_OK;
}

static wg_status repeats(wgi_file_reader *r, wg_function *f) {
    wg_tape *const t = &r->c->head;
    wg_status s = WG_OK;
    if (r->version == WGI_FILE_SCALARS) return s;
    r->shape = wg_tape_keep(t, (f->repeats + 1) * sizeof *r->shape, NULL);
    r->next = wg_tape_keep(t, (f->nodes + 1) * sizeof *r->next, NULL);
    if (r->c->status != WG_OK) return r->c->status;
    memset(r->next, 0, f->nodes * sizeof *r->next);
    for (size_t k = 0; k < f->repeats && s == WG_OK; k++) s = repeat(r, k, &f->repeat[k]);
    return s;
}

/* ---- a function of its own ---- */

static void lay_out(wg_function *f, wgi_pieces *p, wgi_file_reader *r) {
    (void)wgi_pieces_take(p, sizeof *f);
    f->m = (size_t)r->word[WGI_FILE_RESULTS];
    wgi_layout_arrays(f, p);
    f->m = 0; /* counted with the outputs */
    r->name = wgi_pieces_take(p, (size_t)r->word[WGI_FILE_NAMES] + f->inputs + f->outputs);
}

static wg_status fill(wgi_file_reader *r, wg_function *f) {
    wg_status s = arguments(r, f);
    if (s == WG_OK && r->depth != 0) s = roles(r, f);
    if (s == WG_OK) s = repeats(r, f);
    if (s == WG_OK) s = wgi_file_nodes(r, f);
    if (s != WG_OK) return s;
    f->work = wgi_repeat_work(f);
    f->stats.once = f->once, f->stats.each = f->each, f->stats.after = f->after;
    f->stats.numbers = f->numbers, f->stats.guards = wgi_repeat_guards(f);
    return wgi_bytecode_new(r->c, f);
}

static wg_status build(wgi_file_reader *r, wg_function **out) {
    const uint64_t *const statistics = r->word + WGI_FILE_STATISTICS;
    wg_function start;
    memset(&start, 0, sizeof start);
    start.inputs = (size_t)r->word[WGI_FILE_INPUTS];
    start.outputs = (size_t)r->word[WGI_FILE_OUTPUTS];
    start.nodes = (size_t)r->word[WGI_FILE_NODES];
    start.operands = (size_t)r->word[WGI_FILE_OPERANDS];
    start.guards = (size_t)r->word[WGI_FILE_GUARDS];
    start.repeats = (size_t)r->word[WGI_FILE_REPEATS];
    start.stats = (wg_function_stats){.statements = (size_t)statistics[0],
                                      .operations = (size_t)statistics[1],
                                      .folded = (size_t)statistics[2],
                                      .repeated = (size_t)statistics[3],
                                      .simplified = (size_t)statistics[4],
                                      .dead = (size_t)statistics[5]};
    r->used = wgi_node_marks(r->c, start.nodes);
    if (r->used == NULL) return r->c->status;
    wgi_pieces p = {NULL, 0};
    lay_out(&start, &p, r);
    void *base;
    wg_status s = wgi_home_obtain(r->c, p.used, &start.home, &base);
    if (s != WG_OK) return wgi_fail(r->c, s, "%s: no memory for %zu bytes", r->call, p.used);
    wg_function *const f = base;
    *f = start;
    p = (wgi_pieces){base, 0};
    lay_out(f, &p, r);
    for (size_t k = 0; k < f->repeats; k++) f->repeat[k] = (wgi_repeat){.body = NULL};
    s = fill(r, f);
    if (s == WG_OK) *out = f;
    else wg_function_free(f);
    return s;
}

/* ---- calls ---- */

/* from: what messages call the place that it is read from; given: is there such a place? */
static wg_status open(wgi_drive *d, wgi_file_reader *r, wg_tape *t, const char *call,
                      const char *from, int given, const wg_scalar_op *const *user,
                      size_t user_count, wg_function **out) {
    memset(r, 0, sizeof *r);
    if (out != NULL) *out = NULL;
    wg_status s = wgi_drive_open_alone(d, t, call);
    if (s != WG_OK) return s;
    r->c = d->c, r->call = call, r->user = user, r->user_count = user_count;
    if (user == NULL && user_count != 0)
        s = wgi_fail(r->c, WG_ENULL, "%s: the operations are NULL", call);
    for (size_t i = 0; i < user_count && s == WG_OK; i++) {
        if (user[i] == NULL || user[i]->name == NULL || user[i]->value == NULL ||
            user[i]->first == NULL)
            s = wgi_fail(r->c, WG_ENULL,
                         "%s: operation %zu, its name, value or first partials are NULL", call,
                         i);
        else if (user[i]->arity < 1 || user[i]->arity > 4)
            s = wgi_fail(r->c, WG_EARG, "%s: operation %s has %u operands", call, user[i]->name,
                         user[i]->arity);
    }
    if (s == WG_OK && out == NULL) s = wgi_fail(r->c, WG_ENULL, "%s: out is NULL", call);
    if (s == WG_OK && !given) s = wgi_fail(r->c, WG_ENULL, "%s: %s is NULL", call, from);
    wgi_file_list_builtins(r);
    return s;
}

static wg_status load(wgi_file_reader *r, size_t bytes, wg_function **out) {
    const wg_status s = header(r, bytes);
    return s == WG_OK ? build(r, out) : s;
}

wg_status wg_function_load(wg_tape *t, const void *data, size_t bytes,
                           const wg_scalar_op *const *user, size_t user_count,
                           wg_function **out) {
    wgi_drive d;
    wgi_file_reader r;
    wg_status s =
        open(&d, &r, t, "wg_function_load", "data", data != NULL, user, user_count, out);
    r.base = data;
    if (s == WG_OK) s = load(&r, bytes, out);
    return wgi_drive_close(&d, s);
}

/* Collects the bytes of a function, in workspace of the driver: only as much as has arrived,
 * whatever length the file claims. */
static wg_status collect(wgi_file_reader *r, wg_read *read, void *ctx, size_t *got) {
    wgi_extent *const room = &r->c->drive;
    uint64_t length = START;
    size_t held = 0, wanted = START;
    for (*got = 0;;) {
        const wg_status s = wgi_extent_need(r->c, room, wanted, *got);
        if (s != WG_OK) return wgi_fail(r->c, s, "%s: no room for %zu bytes", r->call, wanted);
        const wgi_silence before = wgi_tape_silence(r->c);
        held = read(ctx, room->base + *got, wanted - *got);
        wgi_tape_speak(r->c, before);
        r->base = (const unsigned char *)room->base;
        if (held > wanted - *got)
            return wgi_fail(r->c, WG_ECALLBACK, "%s: the reader gave %zu bytes of %zu", r->call,
                            held, wanted - *got);
        *got += held;
        if (*got < wanted) return WG_OK; /* it was cut short, which loading reports */
        if (wanted == START) {
            const wg_status p = preamble(r, *got, &length);
            r->at = 0;
            if (p != WG_OK) return p;
        }
        if (*got == length) return WG_OK;
        const size_t step = *got < 1 << 16 ? 1 << 16 : *got;
        wanted = length - *got < step ? (size_t)length : *got + step;
    }
}

wg_status wg_function_read(wg_tape *t, wg_read *read, void *ctx,
                           const wg_scalar_op *const *user, size_t user_count,
                           wg_function **out) {
    wgi_drive d;
    wgi_file_reader r;
    size_t bytes = 0;
    wg_status s =
        open(&d, &r, t, "wg_function_read", "read", read != NULL, user, user_count, out);
    if (s == WG_OK) s = collect(&r, read, ctx, &bytes);
    if (s == WG_OK) s = load(&r, bytes, out);
    return wgi_drive_close(&d, s);
}

size_t wg_read_file(void *file, void *data, size_t bytes) {
    return file == NULL || data == NULL ? 0 : fread(data, 1, bytes, (FILE *)file);
}
