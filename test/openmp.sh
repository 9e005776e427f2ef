# SPDX-License-Identifier: MIT
# openmp - test/openmp_user.c, loops by wengert/openmp.h and mistakes in them, prints the same bits with 1, 2, 3
# and 64 threads of OpenMP as without; with each compiler that has it.
set -eu
own="-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -ffp-contract=off -Iinclude -I. $CPPFLAGS"
work=$B/openmp
mkdir -p "$work"
. test/kept
fail() { echo "openmp: $1" >&2; exit 1; }

compilers=0
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    kept "$work/user.o" $cc $own -O1 test/openmp_user.c
    $cc "$work/user.o" -o "$work/user" "$B/libwengert.a" $LDFLAGS $MATH_LIBS -lm
    "$work/user" >"$work/without" || fail "openmp_user.c fails without OpenMP ($cc)"
    [ "$(wc -l <"$work/without")" -eq 103 ] || fail "openmp_user.c does not come to its end ($cc)"
    echo 'int main(void) { return 0; }' | $cc -fopenmp -x c - -o "$work/has" 2>/dev/null || continue
    compilers=$((compilers + 1))
    kept "$work/user.o" $cc $own -O1 -fopenmp test/openmp_user.c
    $cc -fopenmp "$work/user.o" -o "$work/user" "$B/libwengert.a" $LDFLAGS $MATH_LIBS -lm
    for threads in 1 2 3 64; do
        OMP_NUM_THREADS=$threads OMP_DYNAMIC=false "$work/user" >"$work/with" ||
            fail "openmp_user.c fails with $threads threads ($cc)"
        diff "$work/without" "$work/with" >&2 || fail "other results with $threads threads ($cc)"
    done
done
echo "openmp: $compilers compilers with OpenMP"
