# SPDX-License-Identifier: MIT
# dual - test/test_include_dual.c for the other widths and the instruction sets this machine has, with DEPTH=2 each
# with the others, and optimised, which test_include_dual is in one width, too; without a warning about vectors in
# arguments; functions of duals compiled for one set of instructions and called from another.
set -eu
set -f
. test/kept
flags="-std=c11 -Wall -Wextra -Wpsabi -Werror -ffp-contract=off -O1 -Iinclude -I. $CPPFLAGS"
[ "$DEPTH" -gt 1 ] && level=-O1 || level=-O0
sets=-
has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }
has avx2 && sets="$sets -mavx2"
has avx512dq && sets="$sets -mavx512f,-mavx512vl,-mavx512dq"
# The widths for which a set of instructions brings another layout of the row.
widths() {
    case $DEPTH$1 in
    1-) echo 1 2; has avx512dq || echo 8 16 ;;
    1-mavx2) echo 4 ;;
    1*) echo 8 16 ;;
    ?-) echo 1 2 8 16 ;;
    *-mavx2) echo 4 16 ;;
    *) echo 8 16 ;;
    esac
}
$CC $CFLAGS $flags -c -o "$B/dual_csv.o" test/oracle_csv.c
for set in $sets; do
    machine=$(echo "${set#-}" | tr , ' ')
    # without a set of its own not optimised: test_include_dual is optimised in this one
    [ "$set" = - ] && machine=-O0 || machine="-$machine $level"
    for width in $(widths "$set"); do
        kept "$B/dual.o" $CC $CFLAGS $flags $machine -DWG_DUAL_WIDTH=$width test/test_include_dual.c
        $CC $CFLAGS "$B/dual.o" "$B/dual_csv.o" -o "$B/dual" "$B/libwengert.a" $LDFLAGS -lcmocka $MATH_LIBS -lm
        if ! "$B/dual" >"$B/dual.log" 2>&1; then
            echo "dual: width $width, $CC $machine" >&2
            cat "$B/dual.log" >&2
            exit 1
        fi
    done
done

mkdir -p "$B/abi"
cat >"$B/abi/callee.c" <<'END'
#include <wengert/dual.h>
wg_dual callee(wg_dual x, double a, wg_dual y) {
    return wg_dual_add(wg_dual_mul(x, y), wg_dual_constant(a));
}
END
cat >"$B/abi/caller.c" <<'END'
#include <wengert/dual.h>
enum { LAST = WG_DUAL_WIDTH - 1 };
wg_dual callee(wg_dual x, double a, wg_dual y);
int main(void) {
    const wg_dual r = callee(wg_dual_input(3, 0), 5, wg_dual_input(4, LAST));
    const double first = wg_dual_tangent(r, 0), last = wg_dual_tangent(r, LAST);
    return !(wg_dual_value(r) == 17 && (LAST == 0 ? first == 7 : first == 4 && last == 3));
}
END
# callers WIDTH: the sets whose vectors hold a row of it otherwise than those of the function that is called
callers() {
    case $DEPTH$1 in
    1[12]) echo - ;;
    14) echo "$sets" | tr ' ' '\n' | grep -x -e -mavx2 || echo - ;;
    1*) echo "${sets#- }" ;;
    *) echo "$sets" ;;
    esac
}
for width in 1 2 4 8 16; do
    $CC $flags $CFLAGS -DWG_DUAL_WIDTH=$width -c -o "$B/abi/callee.o" "$B/abi/callee.c"
    for set in $(callers $width); do
        machine=$(echo "${set#-}" | tr , ' ')
        [ "$set" = - ] || machine=-$machine
        $CC $flags $CFLAGS $machine -DWG_DUAL_WIDTH=$width "$B/abi/caller.c" "$B/abi/callee.o" \
            -o "$B/abi/call" "$B/libwengert.a" $LDFLAGS $MATH_LIBS -lm
        "$B/abi/call" || { echo "dual: width $width called with $machine" >&2; exit 1; }
    done
done
