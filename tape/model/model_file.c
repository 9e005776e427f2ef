/* SPDX-License-Identifier: MIT */
/* Variables as a file. Whole numbers are little-endian, doubles their bits as such a number:
 *
 *     8 bytes    89 W G V 0d 0a 1a 0a: neither text nor cut to 7 bits
 *     4 and 4    version, number of variables
 *     variables  rows 8, columns 8, bytes of the name 4, the name, values 8 each
 *     8 bytes    FNV-1a of all before */
#include "tape/function/file/file.h"
#include "model.h"

#include <string.h>

enum { VERSION = 1 };
static const unsigned char magic[8] = {0x89, 'W', 'G', 'V', '\r', '\n', 0x1a, '\n'};

static size_t variables_of(const wg_model *m) {
    size_t count = 0;
    for (const wgi_node_of *n = m->first; n != NULL; n = n->next)
        count += (n->kind & WG_VARIABLE) != 0;
    return count;
}

/* ---- writing ---- */

static void put_variable(wgi_text *o, const wgi_node_of *n) {
    wgi_text_word(o, 8, n->dim[0].size);
    wgi_text_word(o, 8, n->dim[1].size);
    wgi_text_word(o, 4, strlen(n->name));
    wgi_text_put(o, n->name);
    for (size_t e = 0; e < wgi_model_size(n); e++) {
        uint64_t bits;
        memcpy(&bits, &n->values[e], sizeof bits);
        wgi_text_word(o, 8, bits);
    }
}

wg_status wg_model_save(wg_model *m, wg_write *write, void *ctx) {
    if (m == NULL) return WG_ENULL;
    if (write == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "wg_model_save: write is NULL");
    wgi_text o;
    wgi_text_open(&o, m->c, write, ctx);
    o.sums = 1;
    wgi_text_bytes(&o, (const char *)magic, sizeof magic);
    wgi_text_word(&o, 4, VERSION);
    wgi_text_word(&o, 4, variables_of(m));
    for (const wgi_node_of *n = m->first; n != NULL && !o.failed; n = n->next)
        if (n->kind & WG_VARIABLE) put_variable(&o, n);
    wgi_text_flush(&o);
    wgi_text_word(&o, 8, o.sum);
    return wgi_text_close(&o) != WG_OK
               ? WGI_MODEL_REFUSE(m, WG_EWRITE, "wg_model_save: write gave a failure")
               : WG_OK;
}

/* ---- reading ---- */

typedef struct reader {
    wg_model *m;
    const char *call;
    wg_read *read;
    void *ctx;
    uint64_t sum;
    wg_status status;
} reader;

#define DAMAGED(f, ...)                                                                        \
    ((f)->status =                                                                             \
         (f)->status != WG_OK ? (f)->status : WGI_MODEL_REFUSE((f)->m, WG_EARG, __VA_ARGS__))

static void get_bytes(reader *f, void *to, size_t bytes) {
    if (f->status != WG_OK) return;
    const wgi_silence before = wgi_tape_silence(f->m->c);
    const size_t got = f->read(f->ctx, to, bytes);
    wgi_tape_speak(f->m->c, before);
    if (got != bytes) {
        (void)DAMAGED(f, "%s: the file ends too early", f->call);
        return;
    }
    f->sum = wgi_checksum(f->sum, to, bytes);
}

static uint64_t get(reader *f, unsigned size) {
    unsigned char p[8] = {0};
    uint64_t x = 0;
    get_bytes(f, p, size);
    for (unsigned i = 0; i < size; i++) x |= (uint64_t)p[i] << 8 * i;
    return x;
}

/* Values that were read, one for each variable of the model. */
typedef struct staged {
    wgi_node_of *variable;
    double *value; /* NULL: the file has not had it so far */
} staged;

static void get_variable(reader *f, size_t count, staged *all) {
    char name[WGI_LONGEST_NAME + 1];
    const uint64_t rows = get(f, 8), cols = get(f, 8), bytes = get(f, 4);
    if (bytes > WGI_LONGEST_NAME) {
        (void)DAMAGED(f, "%s: damaged: a name is too long", f->call);
        return;
    }
    get_bytes(f, name, (size_t)bytes);
    if (f->status != WG_OK) return;
    name[bytes] = 0;
    if (!wgi_is_word(name, (size_t)bytes)) {
        (void)DAMAGED(f, "%s: damaged: a name is no word", f->call);
        return;
    }
    size_t k = 0;
    while (k < count && strcmp(all[k].variable->name, name) != 0) k++;
    if (k == count || all[k].value != NULL) {
        (void)DAMAGED(f,
                      k == count ? "%s: the model has no variable %.200s"
                                 : "%s: %.200s is there twice",
                      f->call, name);
        return;
    }
    const wgi_node_of *const n = all[k].variable;
    if (rows != n->dim[0].size || cols != n->dim[1].size) {
        f->status = WGI_MODEL_REFUSE(
            f->m, WG_ESHAPE, "%s: %.200s is %zux%zu, in the file %llux%llu", f->call, name,
            n->dim[0].size, n->dim[1].size, (unsigned long long)rows, (unsigned long long)cols);
        return;
    }
    all[k].value = wgi_model_scratch(f->m, f->call, (wgi_model_size(n) + 1) * sizeof(double));
    if (all[k].value == NULL) f->status = wg_tape_status(f->m->scratch);
    for (size_t e = 0; e < wgi_model_size(n) && f->status == WG_OK; e++) {
        const uint64_t bits = get(f, 8);
        memcpy(&all[k].value[e], &bits, sizeof bits);
    }
}

static void get_file(reader *f, size_t count, staged *all) {
    unsigned char head[sizeof magic] = {0};
    get_bytes(f, head, sizeof head);
    if (f->status == WG_OK && memcmp(head, magic, sizeof magic) != 0)
        (void)DAMAGED(f, "%s: no file of variables", f->call);
    const uint64_t version = get(f, 4), there = get(f, 4);
    if (f->status == WG_OK && version != VERSION)
        (void)DAMAGED(f, "%s: version %llu, not %d", f->call, (unsigned long long)version,
                      VERSION);
    for (uint64_t i = 0; i < there && f->status == WG_OK; i++) get_variable(f, count, all);
    const uint64_t sum = f->sum;
    if (get(f, 8) != sum) (void)DAMAGED(f, "%s: damaged: the checksum differs", f->call);
    for (size_t k = 0; k < count && f->status == WG_OK; k++)
        if (all[k].value == NULL)
            (void)DAMAGED(f, "%s: the file has no variable %s", f->call, all[k].variable->name);
}

wg_status wg_model_restore(wg_model *m, wg_read *read, void *ctx) {
    static const char call[] = "wg_model_restore";
    if (m == NULL) return WG_ENULL;
    if (read == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: read is NULL", call);
    reader f = {m, call, read, ctx, WGI_CHECKSUM_START, WG_OK};
    const size_t count = variables_of(m);
    staged *const all = wgi_model_scratch(m, call, (count + 1) * sizeof *all);
    if (all == NULL) f.status = wg_tape_status(m->scratch);
    size_t k = 0;
    for (wgi_node_of *n = m->first; n != NULL && all != NULL; n = n->next)
        if (n->kind & WG_VARIABLE) all[k++] = (staged){n, NULL};
    if (f.status == WG_OK) get_file(&f, count, all);
    for (k = 0; k < count && f.status == WG_OK; k++)
        if (wgi_model_size(all[k].variable) != 0)
            memcpy(all[k].variable->values, all[k].value,
                   wgi_model_size(all[k].variable) * sizeof(double));
    wg_tape_reset(m->scratch);
    return f.status;
}
