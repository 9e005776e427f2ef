# SPDX-License-Identifier: MIT
# compile_cost - what a statement costs the compiler: milliseconds of CPU time, and bytes of machine code, of one
# statement of five operations, from the difference of two files. It prints and judges nothing: times
# differ between machines. `sh bench/compile_cost.sh --all` also looks at -O0, -O1 and -O3, with more statements.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
few=10 many=40 levels=-O2 repeats=1
[ "${1:-}" != --all ] || many=110 levels='-O0 -O1 -O2 -O3' repeats=2

# source N: N statements of five operations on up to four variables, no two alike
source_of() {
    echo '#include <wengert.h>'
    echo 'void f(wg_tape *t, wg_real *q);'
    echo 'void f(wg_tape *t, wg_real *q) {'
    i=0
    while [ $i -lt "$1" ]; do
        case $((i % 4)) in
        0) e="wg_mul($i.5, wg_add(wg_add(q[0], q[1]), wg_mul($i, wg_sub(q[0], q[1]))))" ;;
        1) e="wg_sub(wg_mul(q[0], wg_exp(q[1])), wg_mul(wg_sin(q[2]), $i.25))" ;;
        2) e="wg_div(wg_mul(q[0], q[1]), wg_add(wg_mul(q[2], $i), wg_mul(q[3], q[3])))" ;;
        3) e="wg_sqrt(wg_add(wg_mul(q[0], q[0]), wg_add(wg_mul(q[1], q[1]), $i)))" ;;
        esac
        echo "    q[$((i % 4))] = wg_let(t, $e);"
        i=$((i + 1))
    done
    echo '}'
}

# cost FLAGS COMPILER N: sets ms (the least of the repeats) and bytes
cost() {
    source_of "$3" >"$dir/cost.c"
    ms= turn=0
    while [ $turn -lt $repeats ]; do
        times >"$dir/start"
        $2 -std=c11 $1 -Iinclude -c -o "$dir/cost.o" "$dir/cost.c"
        times >"$dir/end"
        took=$(awk 'FNR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); ms += s * (t[1] * 60000 + t[2] * 1000) } }
            END { printf "%d", ms }' s=-1 "$dir/start" s=1 "$dir/end")
        [ "$ms" ] && [ "$ms" -le $took ] || ms=$took
        turn=$((turn + 1))
    done
    bytes=$(size "$dir/cost.o" | awk 'NR == 2 { print $1 }')
}

for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    for level in $levels; do
        cost $level $cc $few
        ms0=$ms bytes0=$bytes
        cost $level $cc $many
        awk -v cc="$cc $level" -v ms=$((ms - ms0)) -v bytes=$((bytes - bytes0)) -v n=$((many - few)) -v all=$ms \
            'BEGIN { printf "%-10s %6.2f ms and %5.0f bytes per statement; a file of %d statements: %.2f s\n",
                     cc, ms / n, bytes / n, n + '$few', all / 1e3 }'
    done
done
