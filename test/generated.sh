# SPDX-License-Identifier: MIT
# generated - the headers that ops/generate.c writes are checked in as it writes them now.
set -eu
for pair in scalar:scalar lists:statement_lists; do
    header=include/wengert/${pair#*:}.h
    if ! "$B/ops/generate" "${pair%:*}" | cmp - "$header"; then
        echo "generated: $header is out of date: make generate" >&2
        exit 1
    fi
done
