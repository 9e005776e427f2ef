/* SPDX-License-Identifier: MIT */
/* known.c - functions of the C library. A row: name, what it is, the operation on variables. */
#include <string.h>
#include "convert/known.h"
#include "convert/text.h"

#define SAME(name, n)                                                                          \
    { #name, KNOWN_OPERATION, "wg_" #name, n }
static const known all[] = {
    SAME(sin, 1),
    SAME(cos, 1),
    SAME(tan, 1),
    SAME(asin, 1),
    SAME(acos, 1),
    SAME(atan, 1),
    SAME(atan2, 2),
    SAME(sinh, 1),
    SAME(cosh, 1),
    SAME(tanh, 1),
    SAME(asinh, 1),
    SAME(acosh, 1),
    SAME(atanh, 1),
    SAME(exp, 1),
    SAME(exp2, 1),
    SAME(exp10, 1),
    SAME(expm1, 1),
    SAME(log, 1),
    SAME(log2, 1),
    SAME(log10, 1),
    SAME(log1p, 1),
    SAME(sqrt, 1),
    SAME(cbrt, 1),
    SAME(pow, 2),
    SAME(hypot, 2),
    SAME(fabs, 1),
    SAME(floor, 1),
    SAME(ceil, 1),
    SAME(trunc, 1),
    SAME(round, 1),
    SAME(rint, 1),
    {"nearbyint", KNOWN_OPERATION, "wg_rint", 1},
    SAME(fmod, 2),
    SAME(remainder, 2),
    {"drem", KNOWN_OPERATION, "wg_remainder", 2},
    SAME(copysign, 2),
    SAME(fmax, 2),
    SAME(fmin, 2),
    SAME(fdim, 2),
    SAME(fma, 3),
    SAME(erf, 1),
    SAME(erfc, 1),
    SAME(lgamma, 1),
    {"gamma", KNOWN_OPERATION, "wg_lgamma", 1},
    SAME(tgamma, 1),
    SAME(j0, 1),
    SAME(j1, 1),
    SAME(y0, 1),
    SAME(y1, 1),
    {"pow10", KNOWN_OPERATION, "wg_exp10", 1},
    {"ldexp", KNOWN_SCALED, NULL, 2},
    {"scalbn", KNOWN_SCALED, NULL, 2},
    {"scalbln", KNOWN_SCALED, NULL, 2},
    {"modf", KNOWN_PARTS, NULL, 2},
    {"frexp", KNOWN_PARTS, NULL, 2},
    {"remquo", KNOWN_PARTS, NULL, 3},
    {"isnan", KNOWN_QUESTION, NULL, 1},
    {"isinf", KNOWN_QUESTION, NULL, 1},
    {"isfinite", KNOWN_QUESTION, NULL, 1},
    {"finite", KNOWN_QUESTION, NULL, 1},
    {"isnormal", KNOWN_QUESTION, NULL, 1},
    {"signbit", KNOWN_QUESTION, NULL, 1},
    {"isinf_sign", KNOWN_QUESTION, NULL, 1},
    {"fpclassify", KNOWN_QUESTION, NULL, 1},
    {"lround", KNOWN_ROUNDING, NULL, 1},
    {"llround", KNOWN_ROUNDING, NULL, 1},
    {"lrint", KNOWN_ROUNDING, NULL, 1},
    {"llrint", KNOWN_ROUNDING, NULL, 1},
    {"ilogb", KNOWN_ROUNDING, NULL, 1},
    {"malloc", KNOWN_MEMORY, NULL, 0},
    {"calloc", KNOWN_MEMORY, NULL, 0},
    {"alloca", KNOWN_MEMORY, NULL, 0},
    {"aligned_alloc", KNOWN_MEMORY, NULL, 0},
    {"realloc", KNOWN_AGAIN, NULL, 0},
    {"memcpy", KNOWN_COPY, NULL, 0},
    {"memmove", KNOWN_COPY, NULL, 0},
    {"memset", KNOWN_FILL, NULL, 0},
    {"qsort", KNOWN_SORT, NULL, 0},
    {"printf", KNOWN_PRINT, NULL, 0},
    {"fprintf", KNOWN_PRINT, NULL, 0},
    {"sprintf", KNOWN_PRINT, NULL, 0},
    {"snprintf", KNOWN_PRINT, NULL, 0},
    {"free", KNOWN_HARMLESS, NULL, 0},
    {"exit", KNOWN_HARMLESS, NULL, 0},
    {"abort", KNOWN_HARMLESS, NULL, 0},
    {"puts", KNOWN_HARMLESS, NULL, 0},
    {"fputs", KNOWN_HARMLESS, NULL, 0},
    {"fflush", KNOWN_HARMLESS, NULL, 0},
    {"perror", KNOWN_HARMLESS, NULL, 0},
    {"strlen", KNOWN_HARMLESS, NULL, 0},
    {"strcmp", KNOWN_HARMLESS, NULL, 0},
    {"strcpy", KNOWN_HARMLESS, NULL, 0},
    {"assert", KNOWN_HARMLESS, NULL, 0},
    {"expect", KNOWN_HARMLESS, NULL, 0},
};

static const known *find(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (*all[i].name == *name && strlen(all[i].name) == n &&
            strncmp(all[i].name, name, n) == 0)
            return &all[i];
    return NULL;
}

const known *known_function(const char *name, unsigned *bits) {
    static const known nothing = {"", KNOWN_NOTHING, NULL, 0};
    if (starts_with(name, "__builtin_")) name += strlen("__builtin_");
    const size_t n = strlen(name);
    const known *k = find(name, n);
    if (bits != NULL) *bits = 64;
    if (k == NULL && n > 1 && (name[n - 1] == 'f' || name[n - 1] == 'l')) {
        k = find(name, n - 1);
        if (k != NULL && (k->kind > KNOWN_ROUNDING)) k = NULL;
        if (bits != NULL && k != NULL) *bits = name[n - 1] == 'f' ? 32 : 80;
    }
    return k != NULL ? k : &nothing;
}
