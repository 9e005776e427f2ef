/* SPDX-License-Identifier: MIT */
/* modules.c - the modules this tool has: all of GradBench's, by name. */
#include "gradbench.h"

#define MODULES(X) X(hello)

#define DECLARE(name) extern const struct gb_module gb_##name;
MODULES(DECLARE)

#define ENTRY(name) &gb_##name,
const struct gb_module *const gb_modules[] = {MODULES(ENTRY) NULL};
