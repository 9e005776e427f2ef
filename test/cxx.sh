# SPDX-License-Identifier: MIT
# cxx - users in C++, with $CXX: test/cxx_user.cpp records what C records;
# test/cxx_names.cpp has operations of its own under the names of all others; test/active_user.cpp has wg::active
# where code says double; test/active_constant.cpp has it in constant expressions, test/active_numbers.cpp numbers among the operands, test/active_single.cpp operations without expressions; test/special_user.cpp has the special functions of C++17; mistakes get a message that names them. That every header compiles alone is seen to by headers.sh.
# With DEPTH=2: with g++ and clang++ where installed, in C++11, C++14, C++17, C++20 and what comes last.
set -eu
own="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -ffp-contract=off -Iinclude -I. $CPPFLAGS"
work=$B/cxx
mkdir -p "$work"
. test/kept
fail() { echo "cxx: $1" >&2; exit 1; }

$CC -std=c11 $own $CFLAGS -c -o "$work/kernel.o" test/generic_kernel.c
compilers=$CXX # a comma between two: what stands before a compiler is part of it, as in CXX='ccache g++'
if [ "$DEPTH" -gt 1 ]; then
    compilers=
    for cxx in g++ clang++; do ! command -v $cxx >/dev/null || compilers="$compilers${compilers:+,}$cxx"; done
    [ "$compilers" ] || fail 'neither g++ nor clang++'
fi
# What is optimised is run by each of them: cxx_user.cpp and active_numbers.cpp. The other files are run by the one that makes
# code in half of the time, and taken by the others: what they compute does not depend on who compiles them.
runs=${compilers%%,*}
! command -v clang++ >/dev/null || runs=clang++

# program NAME COMPILER FLAGS...: test/NAME.cpp compiles, and succeeds
program() {
    name=$1 by=$2
    shift 2
    kept "$work/$name.o" $by "$@" $own "test/$name.cpp" || fail "$name.cpp with $by $*"
    $by "$work/$name.o" "$work/kernel.o" -o "$work/$name" "$B/libwengert.a" $LDFLAGS $MATH_LIBS -lm
    "$work/$name" || fail "$name.cpp with $by $*"
}
# takes NAME FLAGS...: every other compiler takes it
takes() {
    name=$1
    shift
    IFS=,
    for cxx in $compilers; do
        unset IFS
        [ "$cxx" = "$runs" ] || kept - $cxx "$@" $own "test/$name.cpp" || fail "$name.cpp with $cxx $*"
    done
    unset IFS
}

for name in cxx_names special_user active_single; do
    program $name "$runs" -std=c++17 -O0
    takes $name -std=c++17
done
program active_user "$runs" -std=c++11 -O0
takes active_user -std=c++11
[ "$DEPTH" -le 1 ] || program active_user "$runs" -std=c++11 -O0 -DWG_NO_EXPRESSIONS

IFS=,
for cxx in $compilers; do
    unset IFS
    program cxx_user "$cxx" -std=c++17 -Wold-style-cast -O2
    program active_numbers "$cxx" -std=c++11 -O2
    program active_constant "$cxx" -std=c++20 -Os
    if [ "$DEPTH" -gt 1 ]; then
        for how in -std=c++11 -std=c++14; do
            kept - $cxx $how $own test/active_constant.cpp || fail "active_constant.cpp with $cxx $how"
        done
        kept - $cxx -std=c++2b -fno-exceptions $own test/active_user.cpp || fail "active_user.cpp with $cxx, the last standard"
    fi
    # four mistakes in one file: each line is named, and as many messages are ours
    cat >"$work/refused.cpp" <<'END'
#include <wengert/active.hpp>
wg::active zeta(wg::active x) { return std::riemann_zeta(x); }
wg::active ellint(wg::active x) { return std::ellint_1(0.5, x); }
wg::active bessel_j(wg::active x) { return std::cyl_bessel_j(x, 1.0); }
wg::active bessel_k(wg::active x) { return std::cyl_bessel_k(x, x); }
END
    $cxx -std=c++17 -Iinclude $CPPFLAGS -fsyntax-only "$work/refused.cpp" 2>"$work/said" &&
        fail "special functions without derivatives are not refused by $cxx"
    for line in 2 3 4 5; do
        grep -q "refused.cpp:$line:" "$work/said" || fail "$cxx takes: $(sed -n ${line}p "$work/refused.cpp")"
    done
    [ "$(grep -c 'error:.*wengert: .*no derivative' "$work/said")" -eq 4 ] ||
        fail "special functions are refused by $cxx in other words"
    # in GNU mode, which is the compilers' own, <complex.h> defines I
    printf '#include <complex.h>\n#include <wengert/retype.hpp>\n' >"$work/complex.cpp"
    $cxx $own -std=gnu++17 -fsyntax-only "$work/complex.cpp" || fail "retype.hpp with $cxx in GNU mode"
done

# What mistakes are in, precompiled.
printf '#include <wengert/generic.h>\n' >"$work/wg_real.hpp"
printf '#define WG_AS_DUAL\n#include <wengert/generic.h>\n' >"$work/wg_dual.hpp"
IFS=,
for cxx in $compilers; do
    unset IFS
    mkdir -p "$work/${cxx##*/}"
    for type in wg_real wg_dual; do
        cp "$work/$type.hpp" "$work/${cxx##*/}/"
        $cxx -std=c++17 -Iinclude -x c++-header "$work/${cxx##*/}/$type.hpp" -o "$work/${cxx##*/}/$type.hpp.gch"
    done
done

# mistake MESSAGE TYPE STATEMENT: in a function of x and p of that type it does not compile, and
# the message is among what the compiler says
mistake() {
    IFS=,
    for cxx in $compilers; do
        unset IFS
        echo "void f(wg_tape *t, $2 x, $2 *p) { $2 y = x; (void)t, (void)x, (void)p; $3; (void)y; }" >"$work/mistake.cpp"
        if $cxx -std=c++17 -Iinclude -include "$work/${cxx##*/}/$2.hpp" -fsyntax-only "$work/mistake.cpp" >"$work/said" 2>&1; then
            fail "$cxx takes: $3"
        fi
        grep -q "$1" "$work/said" || { cat "$work/said" >&2; fail "$cxx: no '$1' for: $3"; }
    done
    unset IFS
}
operands='no variable, expression or number'
mistake 'expression' wg_real 'y = wg_mul(x, x)'
mistake "$operands" wg_real 'y = wg_let(t, wg_sin(p))'
mistake "$operands" wg_real 'y = wg_let(t, p)'
mistake "$operands" wg_real 'y = wg_let(t, wg_mul(wg_dual_constant(2), x))'
mistake 'more than 8 variables' wg_real 'y = wg_let(t, wg_mul(wg_fma(x,x,wg_fma(x,x,x)), wg_fma(x,x,wg_fma(x,x,x))))'
mistake 'more than 8 numbers' wg_real 'y = wg_let(t, wg_fma(wg_fma(1,2,3), wg_fma(4,5,6), wg_fma(7,8,wg_mul(9,x))))'
mistake 'too many operations' wg_real '
#define S(x) wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x)))))
    y = wg_let(t, S(S(S(x))))'
mistake 'neither a dual nor a number' wg_dual 'y = wg_let(t, wg_sin(p))'
mistake 'neither a dual nor a number' wg_dual 'y = wg_let(t, wg_mul(x, wg_handle()))'
