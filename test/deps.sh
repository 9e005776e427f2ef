# SPDX-License-Identifier: MIT
# deps - what `make deps` asks apt for, with an apt-get that only writes that down: nothing where all is
# there; OpenBLAS where headers are there and nothing links; the one command to type where apt may not be used.
# `make convert` says where there is no libclang, although a folder has its name.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r Makefile include "$dir"
mkdir "$dir/bin"

# script NAME: a command of that name that does what standard input says
script() {
    { echo '#!/bin/sh'; cat; } >"$dir/bin/$1"
    chmod +x "$dir/bin/$1"
}
# deps VARIABLES...: `make deps` by itself, not as a part of the make that runs this
deps() {
    rm -rf "$dir/build"
    (cd "$dir" && env -u MAKEFLAGS -u MAKELEVEL PATH="$dir/bin:$PATH" make deps CC="$CC" "$@") >"$dir/said" 2>&1
}
fail() {
    echo "deps: $1" >&2
    cat "$dir/said" >&2
    exit 1
}

echo 'echo "$@" >>"$(dirname "$0")/asked"' | script apt-get
printf '%s\n' 'shift' 'exec "$@"' | script sudo
echo 'echo 1000' | script id

deps || fail 'fails where all is there'
[ ! -f "$dir/bin/asked" ] || fail "installs what is there: $(cat "$dir/bin/asked")"

deps BLAS_LIBS=-lno_such_blas || fail 'fails where OpenBLAS does not link'
grep -qx 'install .* libopenblas-dev' "$dir/bin/asked" || fail 'OpenBLAS is not asked for'

echo 'exit 1' | script sudo
! deps BLAS_LIBS=-lno_such_blas || fail 'succeeds where OpenBLAS is missing'
grep -q '^    sudo apt-get install libopenblas-dev$' "$dir/said" || fail 'does not print the command to type'
[ -z "$(ls "$dir/build" | grep -v probe)" ] || fail 'leaves a stamp'

mkdir "$dir/convert"
(cd "$dir" && env -u MAKEFLAGS -u MAKELEVEL make convert CC="$CC" CLANG_DIR=) >"$dir/said" 2>&1 || fail 'make convert fails without libclang'
grep -q '^convert: no clang-c/Index.h here: skipped' "$dir/said" || fail 'make convert does not say that libclang is missing'
