# SPDX-License-Identifier: MIT
# libraries - wg::active in libraries of C++: Eigen (test/eigen_user.cpp) and Boost's odeint (test/odeint_user.cpp), run
# with clang++ as C++17, which compiles Eigen in a third of the time, and, with DEPTH=2, taken by g++, odeint as C++14; where one
# is not installed, with $CXX. Of Eigen it is what wengert/eigen.hpp computes and one of Eigen's own factorisations, with DEPTH=2
# all of them, by clang++. What both make of our own headers, optimised too, is in cxx.sh.
# A library that is not there is left out: make deps-cxx installs both.
set -eu
own="-std=c++17 -O0 -w -ffp-contract=off -Iinclude $CPPFLAGS"
work=$B/libraries
mkdir -p "$work"
. test/kept
runs=$CXX takes=$CXX
! command -v clang++ >/dev/null || runs=clang++
! command -v g++ >/dev/null || takes=g++
# uses NAME FLAGS: test/NAME.cpp compiles and succeeds
uses() {
    kept "$work/$1.o" $runs $own $2 "test/$1.cpp"
    $runs "$work/$1.o" -o "$work/$1" "$B/libwengert.a" $LDFLAGS $MATH_LIBS -lm
    "$work/$1" || { echo "libraries: $1.cpp with $runs" >&2; exit 1; }
}
has() { echo "#include <$1>" | $CXX $2 -x c++ -E - >/dev/null 2>&1; }
eigen='-isystem /usr/include/eigen3'
if has Eigen/Core "$eigen"; then
    [ "$DEPTH" -gt 1 ] && part= || part=-DWG_OWN_ONLY
    uses eigen_user "$eigen $part"
    [ "$takes" = "$runs" ] || [ "$DEPTH" = 1 ] || kept - $takes $own $eigen -DWG_OWN_ONLY test/eigen_user.cpp
else echo 'Eigen is not there: left out (make deps-cxx)'; fi
if has boost/numeric/odeint.hpp ''; then
    uses odeint_user ''
    [ "$DEPTH" = 1 ] || kept - $takes $own -std=c++14 test/odeint_user.cpp
else echo 'Boost is not there: left out (make deps-cxx)'; fi
