# SPDX-License-Identifier: MIT
# readme - what the texts (README.md, CONTRIBUTING.md, doc/) say is true as far as a program can tell.
#
# Every ```c and ```cpp block that has a main() is compiled as a user would, against an installed tree by
# pkg-config, and run; a ```text or ```output block that comes next, before any other block, is what it
# prints. What includes an adapter's header is left out where the solver is not here, and linked with what a line
# `/* Link with: ... */` says. Other blocks are read by people only. README.md is short, and so is the glossary; oracles.md
# names all reference files, CHANGELOG.md new members that are there; what any text links is there: the file, and in it the heading.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "readme: $1" >&2; exit 1; }

# ---- length and links ---------------------------------------------------------------------------

lines=$(wc -l <README.md)
[ "$lines" -le 150 ] || fail "README.md has $lines lines, which is more than 150"

# A word that is not among the few of the glossary explains itself.
words=$(sed -n '/^## Glossary/,$s/^| \([a-z, ]*\) |.*/\1/p' doc/DESIGN.md | sed '1d; s/, /\n/g' | wc -l)
[ "$words" -le 30 ] || fail "the glossary of doc/DESIGN.md has $words words, which is more than 30"

# New members that CHANGELOG names, as `a` and `b` of `wg_struct`; and so on: the structures have them.
awk '/^- New members:/ { on = 1; print; next } on && !/^  / { exit } on' CHANGELOG.md | tr '\n' ' ' |
    sed 's/([^)]*)//g; s/[;.] */\n/g' | awk '
    {
        count = split($0, part, "`")
        members = structures = 0
        for (i = 2; i < count; i += 2)
            if (part[i] ~ /^wg_/) structure[++structures] = part[i]
            else if (structures == 0) member[++members] = part[i]
        for (i = 1; i <= structures; i++) for (k = 1; k <= members; k++) print structure[i], member[k]
    }' >"$dir/members"
[ -s "$dir/members" ] || fail "CHANGELOG.md has no list of new members"
while read -r structure member; do
    sed -n "/^typedef struct $structure {/,/^}/p" include/wengert/*.h adapters/*/wengert/*.h |
        tr '\n' ' ' | sed -E 's,/\*([^*]|\*+[^*/])*\*+/,,g' | grep -qw "$member" ||
        fail "$structure has no member $member, which CHANGELOG.md says is new"
done <"$dir/members"

# Whatever stands in test/data comes from somewhere.
for data in test/data/*; do
    case $data in test/data/fuzz_*) continue ;; esac
    grep -qF '`'"${data#test/data/}" doc/oracles.md || fail "doc/oracles.md does not say where $data comes from"
done

# What is linked, as FILE TARGET, from outside of blocks and code; and the anchors of headings, as FILE#ANCHOR.
find . -name build -prune -o -name '*.md' -print | sed 's,^\./,,' | sort >"$dir/texts"
xargs awk -v links="$dir/links" -v anchors="$dir/anchors" '
    FNR == 1 { inside = 0 }
    /^ *```/ { inside = !inside; next }
    inside || /^    / { next }
    /^#+ / {
        heading = tolower($0); sub(/^#+ /, "", heading)
        gsub(/[^a-z0-9_ -]/, "", heading); gsub(/ /, "-", heading)
        print FILENAME "#" heading > anchors
    }
    {
        text = $0; gsub(/`[^`]*`/, "", text)
        while (match(text, /\]\([^)]*\)/)) {
            print FILENAME, substr(text, RSTART + 2, RLENGTH - 3) > links
            text = substr(text, RSTART + RLENGTH)
        }
    }' <"$dir/texts"
while read -r text target; do
    case $target in http://* | https://*) continue ;; esac
    file=${target%%#*}
    case $file in
    '') file=$text ;;
    *)
        case $text in */*) file=${text%/*}/$file ;; esac
        [ -e "$file" ] || fail "$text links $target, which is not there"
        file=$(realpath --relative-to=. "$file")
        ;;
    esac
    case $target in
    *'#'*) grep -qxF "$file#${target#*#}" "$dir/anchors" || fail "$text links $target: no such heading" ;;
    esac
done <"$dir/links"

# ---- programs -----------------------------------------------------------------------------------

for text in README.md CONTRIBUTING.md doc/*.md; do
    awk -v to="$dir/$(basename "$text" .md)" '
        /^```/ && !inside {
            inside = 1; out = ""; program = 0
            if ($0 ~ /^```(c|cpp)$/) { program = 1; out = sprintf("%s-%02d.%s", to, ++n, substr($0, 4)) }
            else if ($0 ~ /^```(text|output)$/ && last) { out = sprintf("%s-%02d.expected", to, n) }
            if (out) printf "" > out
            last = program
            next
        }
        /^```/ { inside = 0; if (out) close(out); next }
        inside && out { print > out }' "$text"
done

# one at a time: wengert.pc is of the prefix
flock "$B/install.lock" env -u MAKEFLAGS "$MAKE" -s install DESTDIR= prefix="$dir/root" libdir="$dir/root/lib" \
    B="$B" CC="$CC" CPPFLAGS="$CPPFLAGS" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" >/dev/null
export PKG_CONFIG_PATH="$dir/root/lib/pkgconfig" LD_LIBRARY_PATH="$dir/root/lib"

programs=0
for source in "$dir"/*-[0-9]*.c "$dir"/*-[0-9]*.cpp; do
    grep -qE '^int main *\(' "$source" 2>/dev/null || continue
    programs=$((programs + 1))
    name=${source%.*}
    case $source in
    *.c) compile="$CC -std=c11" ;;
    *) compile="$CXX -std=c++17" ;;
    esac
    packages=wengert absent=
    for header in adapters/*/wengert/*.h; do
        adapter=$(basename "$header" .h)
        grep -q "^#include <wengert/$adapter.h>" "$source" || continue
        case " $ADAPTERS " in *" $adapter "*) packages="$packages wengert-$adapter" ;; *) absent=$adapter ;; esac
    done
    if [ "$absent" ]; then
        echo "${name##*/}: no $absent here: left out (make deps-solvers)"
        continue
    fi
    more=$(sed -n 's,^/\* Link with: \(.*\) \*/$,\1,p' "$source")
    $compile -Wall -Wextra -Werror -O2 "$source" -o "$name" $(pkg-config --cflags --libs $packages) $more -lm ||
        fail "${name##*/} (text and number of the block) does not compile"
    "$name" >"$name.out" || fail "${name##*/} (text and number of the block) fails"
    if [ -f "$name.expected" ]; then diff -u "$name.expected" "$name.out"; fi
done
echo "$programs programs of the texts compiled and run"
[ "$programs" -gt 0 ]
