# SPDX-License-Identifier: MIT
# headers - every public header compiles alone, twice over, and in any order with the others, as C11
# and as C++17, with DEPTH=2 all together also as C++11: one that needs another one before it is found as C++17, and by gcc, so that
# clang has all together, and with DEPTH=2 each alone. What the headers
# define carries the prefix, so that nothing of a user's is in the way, macros of one letter among it (-DN=100).
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# what users may have switched on
warn='-Wall -Wextra -Wpedantic -Wconversion -Wfloat-conversion -Wdouble-promotion -Wshadow -Wundef -Wfloat-equal
    -Wcast-qual -Werror -Iinclude'
warn_c="$warn -Wold-style-definition -Wstrict-prototypes -Wmissing-prototypes" warn_cxx="$warn -Wold-style-cast -Wzero-as-null-pointer-constant"
bad=0
complain() { echo "headers: $1" >&2; bad=1; }

# Parts of other headers, not for users to include; and those for C++ alone.
part='generic_double.h generic_dual.h generic_tape.h statement_lists.h scalar.hpp statement.hpp
    active_math.hpp active_special.hpp active_std.hpp tape.hpp'
# Needs a library that may not be there: libraries.sh compiles it.
part="$part eigen.hpp"
public=
for header in include/wengert.h include/wengert/*.h include/wengert/*.hpp; do
    case " $part " in *" ${header##*/} "*) ;; *) public="$public ${header#include/}" ;; esac
done

# compiles NAME FLAGS...: the file of that name, in both languages; .hpp is for one of them
compiles() {
    name=$1
    shift
    case $name in *.hpp) ;; *)
        $CC -std=c11 $warn_c $CPPFLAGS "$@" -fsyntax-only -x c "$dir/$name.c" || complain "$name $* as C11" ;;
    esac
    $CXX -std=c++17 $warn_cxx $CPPFLAGS "$@" -fsyntax-only -x c++ "$dir/$name.c" || complain "$name $* as C++17"
}

case $DEPTH${CC##*/} in 1clang*) alone= ;; *) alone=1 ;; esac
mkdir "$dir/wengert"
reversed=
for header in $public; do
    printf '#include <%s>\n#include <%s>\ntypedef int not_empty;\n' "$header" "$header" >"$dir/$header.c"
    [ ! "$alone" ] || compiles "$header"
    reversed="$header $reversed"
done
compiles wengert/generic.h -DWG_AS_DOUBLE
letters=
for letter in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do letters="$letters -D$letter=1"; done
compiles wengert/generic.h -DWG_AS_DUAL $letters

# Backwards, after headers that are known to define a lot.
{
    echo '#include <complex.h>'
    for header in $reversed; do case $header in *.hpp) ;; *) echo "#include <$header>" ;; esac; done
} >"$dir/backwards.c"
$CC -std=gnu11 $warn_c $CPPFLAGS -fsyntax-only "$dir/backwards.c" || complain 'backwards'

# As C++, backwards, too: all but generic.h, which is for C++17; and retype.hpp, after which double is another type.
for header in $reversed; do case $header in *generic*.h | *retype.hpp) ;; *) echo "#include <$header>" ;; esac; done >"$dir/together.c"
for standard in $([ "$alone" ] || echo c++17) $([ "$DEPTH" -le 1 ] || echo c++11); do
    for all in together wengert/retype.hpp; do
        $CXX -std=$standard $warn_cxx $CPPFLAGS -fsyntax-only -x c++ "$dir/$all.c" || complain "$all as $standard"
    done
done

# wengert.h brings in all of them that it does not name at its head.
echo '#include <wengert.h>' | $CC $CPPFLAGS -Iinclude -M -x c - >"$dir/brought"
sed '/^#ifndef/q' include/wengert.h >"$dir/head"
for header in $public; do
    case $header in *.hpp | */generic_*) continue ;; esac
    grep -qF "include/$header" "$dir/brought" || grep -qF "<$header>" "$dir/head" ||
        complain "wengert.h neither brings in $header nor says so"
done

# Macros: what is there beside what the standard headers they include define.
standard=$(sed -n 's|^ *# *include <\([a-z_0-9.]*\)>.*|\1|p' include/wengert/* | grep -v '^wengert' | LC_ALL=C sort -u)
for language in c c++; do
    case $language in
    c) compiler="$CC -std=c11" also=$(echo "$standard" | grep '\.h$') ;;
    *) compiler="$CXX -std=c++17" also=$standard ;;
    esac
    for header in $also; do echo "#include <$header>"; done >"$dir/before.c"
    {
        cat "$dir/before.c"
        for header in $public; do case $language:$header in c:*.hpp | *retype.hpp) ;; *) echo "#include <$header>" ;; esac; done
    } >"$dir/after.c"
    for when in before after; do
        $compiler $CPPFLAGS -Iinclude -x $language -dM -E "$dir/$when.c" | sed 's/^#define //; s/[ (].*//' |
            LC_ALL=C sort -u >"$dir/$when"
    done
    odd=$(LC_ALL=C comm -13 "$dir/before" "$dir/after" | grep -vE '^(wg|WG|wgi|WGI|WENGERT)_' || true)
    [ -z "$odd" ] || complain "macros without prefix ($language): $(echo $odd)"
done

# Functions, variables, types and tags: what a user may define before he includes anything.
cat >"$dir/own.c" <<'C'
#include <stddef.h>
#include <stdint.h>
#include <math.h>
struct tape { int i; }; struct mark { int i; }; struct real { int i; }; struct dual { int i; };
typedef struct tape tape; typedef struct mark mark; typedef struct real real; typedef struct dual dual;
enum status { OK, ENULL, EARG, ARITH, GUARD, SING, ROW_MAJOR };
static inline int let(int a) { return a; }
static inline int input(int x) { return x + let(x); }
static inline int value(int t) { return t + input(t); }
static inline int add(int r) { return r + value(r); }
#include <wengert.h>
#ifdef __cplusplus
#include <wengert/active.hpp>
#endif
int use(int v);
int use(int v) { return add(v) + OK; }
C
compiles own $letters

echo "$(echo $public | wc -w) headers"
exit $bad
