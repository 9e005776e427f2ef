# SPDX-License-Identifier: MIT
# generated - the files that ops/scalar/generate.c writes are checked in as it writes them now, and the
# Makefile's GENERATED (what to ask for:what is written) names them all; so is what ops/matrix/generate_operand.sh
# writes of the prototypes of operations on matrices.
set -eu
bad=0
for pair in $GENERATED; do
    "$B/ops/scalar/generate" "${pair%:*}" | cmp - "${pair#*:}" ||
        { echo "generated: ${pair#*:} is out of date: make generate" >&2; bad=1; }
done
sh ops/matrix/generate_operand.sh | cmp - include/wengert/operand.h ||
    { echo "generated: include/wengert/operand.h is out of date: make generate" >&2; bad=1; }
asked=$(printf '%s\n' $GENERATED | sed 's/:.*//' | LC_ALL=C sort)
known=$("$B/ops/scalar/generate" 2>&1 | sed 's/^usage: generate //' | tr '|' '\n' | LC_ALL=C sort)
[ "$asked" = "$known" ] || { echo "generated: GENERATED of the Makefile is not:" $known >&2; bad=1; }
exit $bad
