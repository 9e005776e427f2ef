/* SPDX-License-Identifier: MIT */
/* programs_duals.c - programs of elementwise operations on duals, some inputs at a time. */
#include <wengert/dual.h>
#include <wengert/operation.h>
#include "programs_check.h"
#include "programs_toys.h"

/* One function per operation: inlined into one, compilers with sanitizers take minutes. */
#define APART static __attribute__((noinline))
#define OP1(name, ...)                                                                         \
    APART wg_dual dual_##name(const wg_dual *x) { return wgi_dual_##name(x[0], 1); }
#define OP2(name, ...)                                                                         \
    APART wg_dual dual_##name(const wg_dual *x) { return wgi_dual_##name(x[0], 1, x[1], 1); }
#define OP3(name, ...)                                                                         \
    APART wg_dual dual_##name(const wg_dual *x) {                                              \
        return wgi_dual_##name(x[0], 1, x[1], 1, x[2], 1);                                     \
    }
#define OP4(name, ...)                                                                         \
    APART wg_dual dual_##name(const wg_dual *x) {                                              \
        return wgi_dual_##name(x[0], 1, x[1], 1, x[2], 1, x[3], 1);                            \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

static wg_dual (*const dual_ops[])(const wg_dual *) = {
#define OP1(name, ...) dual_##name,
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
};

static int elementwise(const struct program *p) {
    for (size_t i = 0; i < p->steps; i++)
        if ((size_t)(p->step[i].op - program_ops) >= wgi_scalar_op_count) return 0;
    return p->inputs > 0;
}

/* Element (i, j), stretched where there is one row or column. */
static wg_dual element(const wg_dual *a, struct program_shape s, unsigned turned, size_t i,
                       size_t j) {
    const size_t rows = turned ? s.cols : s.rows, cols = turned ? s.rows : s.cols;
    i = rows == 1 ? 0 : i;
    j = cols == 1 ? 0 : j;
    return turned ? a[j + i * s.rows] : a[i + j * s.rows];
}

void check_duals(struct check *r) {
    static wg_dual node[PROGRAM_NODES][PROGRAM_ENTRIES];
    const struct program *const p = r->p;
    const struct truth *const at = &r->truth[r->at];
    double value[PROGRAM_OUTPUTS], jacobian[PROGRAM_OUTPUTS * PROGRAM_NUMBERS];
    if (!elementwise(p)) return;
    for (size_t first = 0; first < p->n; first += WG_DUAL_WIDTH) {
        for (size_t k = 0, i = 0; k < p->inputs; k++)
            for (size_t e = 0; e < p->node[k].rows * p->node[k].cols; e++, i++)
                node[k][e] = i >= first && i < first + WG_DUAL_WIDTH
                                 ? wg_dual_input(at->x[i], i - first)
                                 : wg_dual_constant(at->x[i]);
        for (size_t q = 0; q < p->steps; q++) {
            const struct program_step *const s = &p->step[q];
            const struct program_shape to = p->node[p->inputs + q];
            for (size_t e = 0; e < to.rows * to.cols; e++) {
                wg_dual x[PROGRAM_OPERANDS];
                for (size_t k = 0; k < s->operands; k++)
                    x[k] = element(node[s->from[k]], p->node[s->from[k]], s->trans >> k & 1,
                                   e % to.rows, e / to.rows);
                node[p->inputs + q][e] = dual_ops[s->op - program_ops](x);
            }
        }
        for (size_t j = 0; j < p->m; j++) {
            const wg_dual y = node[p->inputs + p->steps - 1][j];
            value[j] = wg_dual_value(y);
            for (size_t i = first; i < p->n && i < first + WG_DUAL_WIDTH; i++)
                jacobian[j * p->n + i] = wg_dual_tangent(y, i - first);
        }
    }
    check_values(r, "duals", value);
    check_jacobian(r, "duals", jacobian);
}
