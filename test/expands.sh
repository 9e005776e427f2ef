# SPDX-License-Identifier: MIT
# expands - every operation of the library that can be written out in statements says that its derivative
# is that of what it expands to (WG_OP_EXPANDS): without, it could not be part of a function. Looked up in
# all tables of operations that the library has, by the symbols of a program with the whole of it.
set -eu

made=$(mktemp -d "$B/expands.XXXXXX")
trap 'rm -rf "$made"' EXIT

# Reads what nm says of objects: address, size, kind, name. An operation is what begins with the address of
# a text that begins with "wg_" or is a name of an operation on the tape, and has a value.
cat >"$made/look.c" <<'END'
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wengert.h>

extern char __executable_start, _end;

static int is_inside(uintptr_t p) {
    return p >= (uintptr_t)&__executable_start && p < (uintptr_t)&_end;
}
static int is_operation(const wg_block_op *op) {
    return is_inside((uintptr_t)op->name) && strncmp(op->name, "wg_", 3) == 0 &&
           is_inside((uintptr_t)op->shape) && is_inside((uintptr_t)op->value);
}

int main(void) {
    uintptr_t at;
    size_t bytes, operations = 0, expand = 0;
    int wrong = 0;
    while (scanf("%" SCNxPTR " %zx %*s %*s", &at, &bytes) == 2) {
        if (bytes % sizeof(wg_block_op) != 0 || at % sizeof(void *) != 0) continue;
        const wg_block_op *op = (const wg_block_op *)at;
        for (size_t k = 0; k < bytes / sizeof *op; k++, op++) {
            if (!is_operation(op)) continue;
            operations++;
            expand += op->expand != NULL;
            if (op->expand != NULL && (op->flags & WG_OP_EXPANDS) == 0) {
                printf("expands: %s has expand and not WG_OP_EXPANDS\n", op->name);
                wrong = 1;
            }
            if (op->expand == NULL && (op->flags & (WG_OP_EXPANDS | WG_OP_MOVES)) == WG_OP_EXPANDS) {
                printf("expands: %s has WG_OP_EXPANDS, and neither expand nor WG_OP_MOVES\n", op->name);
                wrong = 1;
            }
        }
    }
    printf("expands: %zu operations, %zu of them expand\n", operations, expand);
    return wrong || operations < 200 || expand < 150;
}
END
# shellcheck disable=SC2086
$CC -std=gnu11 -O1 -no-pie -Iinclude "$made/look.c" -o "$made/look" \
    -Wl,--whole-archive "$B/libwengert.a" -Wl,--no-whole-archive $MATH_LIBS -ldl -lm -lpthread
nm -S --defined-only "$made/look" | awk 'NF == 4 && $3 ~ /^[dDrR]$/' >"$made/objects"
"$made/look" <"$made/objects"
