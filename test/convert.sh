# SPDX-License-Identifier: MIT
# convert - what wengert-convert says. A file of test/convert/refused says in its head:
#     options: OPTIONS   what the converter is asked for
#     says: WORDS        these are in its answer
#     status: N          it ends with N, where it is not 1 (0: a warning, and the text compiles)
# Then its options, files that cannot be read or written, compile_commands.json, its own output, and
# wengert-cc in a build by make.
set -eu
converter=$PWD/$B/wengert-convert
[ -x "$converter" ] || { echo 'convert: no wengert-convert here: skipped (make deps-convert)'; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "convert: $1" >&2; bad=1; }

# said FILE KEY: the values of a key in the head
said() { sed -n 's|^[ /]\* '"$2"': \(.*[^ ]\) *$|\1|p' "$1"; }

# answers WHO STATUS WORDS -- ARGUMENTS...: the converter's status, and each line of WORDS in what it says
answers() {
    who=$1 expected=$2 phrases=$3
    shift 4
    status=0
    "$converter" "$@" >"$dir/said" 2>&1 || status=$?
    [ "$status" = "$expected" ] || { complain "$who ends with $status:"; cat "$dir/said" >&2; }
    echo "$phrases" | while IFS= read -r phrase; do
        [ -z "$phrase" ] || grep -qF -- "$phrase" "$dir/said" || { echo "$who does not say: $phrase"; cat "$dir/said"; }
    done >"$dir/missing"
    [ ! -s "$dir/missing" ] || complain "$(cat "$dir/missing")"
}

count=0
set -f
for file in $(set +f; ls test/convert/refused/*.c); do
    count=$((count + 1))
    status=$(said "$file" status)
    rm -f "$dir/out_wg.c" "$dir/out_wg.h"
    answers "$file" "${status:-1}" "$(said "$file" says)" -- "$file" $(said "$file" options) -o "$dir/out_wg.c"
    if [ "${status:-1}" = 0 ]; then
        $CC -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$dir/out_wg.c" || complain "$file: what is written does not compile"
    elif [ -e "$dir/out_wg.c" ]; then complain "$file is refused, and something is written"
    fi
done
set +f
[ $count -ge 25 ] || complain 'files of test/convert/refused are missing'

simple="test/convert/scalars.c --function f --with-respect-to x,y --of return"
answers 'no argument' 2 'wengert-convert: no file is given' --
answers 'a file alone' 2 '--function, --with-respect-to, --of and -o are needed' -- test/convert/scalars.c
answers 'half an option' 2 '--function needs a value' -- --function
answers 'half of --passive' 2 '--passive needs the name of a function' -- --passive
answers 'an option that is none' 2 '--frobnicate is no option' -- $simple -o "$dir/a.c" --frobnicate
answers '--help' 0 'usage: wengert-convert FILE.c .. --function NAME' -- --help
answers 'a file that is not there' 1 "$dir/absent.c: error: cannot be read" -- "$dir/absent.c" --function f --with-respect-to x --of return -o "$dir/a.c"
answers 'a folder that is not there' 1 "$dir/absent/a.c: error: cannot be written" -- $simple -o "$dir/absent/a.c"
answers 'a database that is not there' 1 'has no compile_commands.json that can be read' -- $simple -o "$dir/a.c" -p "$dir"

# Flags from compile_commands.json.
mkdir "$dir/build" "$dir/part"
echo '#define TIMES 3' >"$dir/part/times.h"
printf '#include <times.h>\ndouble f(double x) { return SCALE * x * TIMES; }\n' >"$dir/scaled.c"
cat >"$dir/build/compile_commands.json" <<C
[{"directory": "$dir/build", "command": "cc -I../part -DSCALE=2 -c -o scaled.o ../scaled.c", "file": "../scaled.c"}]
C
answers 'compile_commands.json' 0 '' -- "$dir/scaled.c" --function f --with-respect-to x --of return -o "$dir/scaled_wg.c" -p "$dir/build"
answers 'no flags' 1 "file not found" -- "$dir/scaled.c" --function f --with-respect-to x --of return -o "$dir/scaled_wg.c"

# Its own output.
answers 'conversion' 0 '' -- $simple -o "$dir/scalars_wg.c"
answers 'its own output' 1 "$dir/scalars_wg.c:1: error: has been converted already" -- "$dir/scalars_wg.c" --function f --with-respect-to x,y --of return -o "$dir/twice.c" -- -Iinclude
[ ! -e "$dir/twice.c" ] || complain 'converts its own output'

echo "$count files, 13 ways to ask"
exit $bad
