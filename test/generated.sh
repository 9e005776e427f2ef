# SPDX-License-Identifier: MIT
# generated - the headers that ops/generate.c writes are checked in as it writes them now.
set -eu
for pair in scalar:scalar.h lists:statement_lists.h dual:dual_ops.h \
    generic_double:generic_double.h generic_dual:generic_dual.h generic_tape:generic_tape.h \
    cxx:scalar.hpp; do
    header=include/wengert/${pair#*:}
    if ! "$B/ops/generate" "${pair%:*}" | cmp - "$header"; then
        echo "generated: $header is out of date: make generate" >&2
        exit 1
    fi
done
