/* SPDX-License-Identifier: MIT */
/* modules.c - the modules this tool has: all of GradBench's, by name. */
#include "gradbench.h"

#define MODULES(X)                                                                             \
    X(ba)                                                                                      \
    X(det) X(gmm) X(hello) X(ht) X(kmeans) X(llsq) X(lse) X(lstm) X(ode) X(particle) X(saddle)

#define DECLARE(name) extern const struct gb_module gb_##name;
MODULES(DECLARE)

#define ENTRY(name) &gb_##name,
const struct gb_module *const gb_modules[] = {MODULES(ENTRY) NULL};
