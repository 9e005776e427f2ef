# SPDX-License-Identifier: MIT
# mistakes - what a common mistake is answered with. A file of test/mistakes says in its head:
#     gcc: PHRASE, clang: PHRASE, both: PHRASE   the compiler refuses the file with these words
#     flags: FLAGS                               when it is given these
#     errors: N                                  and so many errors at most, where 12 are too many
#     run: PHRASE                                it compiles, and prints these words
# With -DRIGHT the mistake is mended: all such files together compile without a warning.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
warn='-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
bad=0
complain() { echo "mistakes: $1" >&2; bad=1; }

# said FILE KEY...: the phrases of these keys
said() {
    file=$1
    shift
    for key; do sed -n 's|^ \* '"$key"': \(.*[^ ]\) *$|\1|p' "$file" | sed 's| \*/$||'; done
}

# names FILE OUTPUT WHO PHRASES: each phrase is in the output
names() {
    echo "$4" | while IFS= read -r phrase; do
        grep -qF -- "$phrase" "$2" || { echo "$1 ($3) does not say: $phrase"; cat "$2"; }
    done >"$dir/missing"
    [ ! -s "$dir/missing" ] || complain "$(cat "$dir/missing")"
}

compilers=0
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    compilers=$((compilers + 1))
    : >"$dir/right.c"
    for file in test/mistakes/*.c; do
        phrases=$(said "$file" $cc both)
        [ "$phrases" ] || continue
        flags=$(said "$file" flags)
        if LC_ALL=C $cc $warn -O2 -Iinclude $flags -c -o "$dir/wrong.o" "$file" >"$dir/out" 2>&1; then
            complain "$file compiles with $cc"
        fi
        names "$file" "$dir/out" $cc "$phrases"
        # one message, not pages of them
        most=$(said "$file" errors)
        [ "$(grep -c 'error:' "$dir/out")" -le "${most:-12}" ] || complain "$file: $cc says too much"
        [ "$flags" ] || echo "#include \"$PWD/$file\"" >>"$dir/right.c"
    done
    $cc $warn -O2 -Iinclude -DRIGHT -c -o "$dir/right.o" "$dir/right.c" ||
        complain "the mended files do not compile with $cc"
done
[ $compilers -gt 0 ] || complain 'neither gcc nor clang'

count=0
for file in test/mistakes/*.c; do
    count=$((count + 1))
    phrases=$(said "$file" run)
    [ "$phrases" ] || continue
    $CC $warn -O2 $CPPFLAGS -Iinclude "$file" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -lm -o "$dir/run"
    "$dir/run" >"$dir/out" || complain "$file ends with status $?"
    names "$file" "$dir/out" run "$phrases"
done
echo "$count mistakes, $compilers compilers"
[ $count -ge 15 ] || complain 'some are missing'
exit $bad
