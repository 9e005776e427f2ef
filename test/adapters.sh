# SPDX-License-Identifier: MIT
# adapters - what is installed of adapters/: every header compiles alone, twice over, as C11 and as C++17,
# with the solver's; the shared libraries export names of the header only; a program that is linked with
# all of them by pkg-config has no name twice. $ADAPTERS: those whose solver is here.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "adapters: $1" >&2; bad=1; }

# one at a time: the .pc files are of the prefix
flock "$B/install.lock" env -u MAKEFLAGS "$MAKE" -s install DESTDIR= prefix="$dir/root" libdir="$dir/root/lib" \
    B="$B" CC="$CC" CPPFLAGS="$CPPFLAGS" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" >/dev/null
libs=$dir/root/lib
export PKG_CONFIG_PATH="$libs/pkgconfig" LD_LIBRARY_PATH="$libs"

packages=
for name in $ADAPTERS; do
    packages="$packages wengert-$name"
    # what the solver needs is not ours to warn of
    flags="$(pkg-config --cflags "wengert-$name" | sed 's/-I *\//-isystem \//g')"
    printf '#include <wengert/%s.h>\n#include <wengert/%s.h>\ntypedef int not_empty;\n' "$name" "$name" >"$dir/$name.c"
    $CC -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Werror $flags -fsyntax-only \
        "$dir/$name.c" || complain "wengert/$name.h as C11"
    $CXX -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $flags -fsyntax-only -x c++ \
        "$dir/$name.c" || complain "wengert/$name.h as C++17"

    nm -D --defined-only "$libs/libwengert-$name.so" | awk '$3 !~ /^(__bss_start|_edata|_end)$/ { print $3 }' | LC_ALL=C sort >"$dir/exported"
    sed -n 's/.*\b\(wg_[a-z0-9_]*\)(.*/\1/p' "adapters/$name/wengert/$name.h" | LC_ALL=C sort -u >"$dir/declared"
    odd=$(LC_ALL=C comm -23 "$dir/exported" "$dir/declared")
    [ -s "$dir/exported" ] || complain "libwengert-$name.so exports nothing"
    [ -z "$odd" ] || complain "libwengert-$name.so exports what wengert/$name.h does not have: $(echo $odd)"
done

{
    for name in $ADAPTERS; do echo "#include <wengert/$name.h>"; done
    echo 'int main(void) { wg_problem_free(NULL); return wg_problem_status(NULL) != WG_ENOMEM; }'
} >"$dir/user.c"
archives=
for name in $ADAPTERS; do archives="$libs/libwengert-$name.a $archives"; done
$CC -std=c11 "$dir/user.c" -o "$dir/user" -Wl,--no-as-needed $(pkg-config --cflags --libs $packages) -lm ||
    complain 'shared libraries do not link'
LD_DEBUG=bindings LD_BIND_NOW=1 "$dir/user" 2>"$dir/bindings" || complain 'a program with all of them does not run'
! grep 'libwengert\.so.*gslcblas.*symbol' "$dir/bindings" >&2 || complain 'libwengert works with the CBLAS of GSL'
$CC -std=c11 $(pkg-config --cflags $packages) "$dir/user.c" -o "$dir/user" -Wl,--whole-archive $archives \
    -Wl,--no-whole-archive "$libs/libwengert.a" \
    $(pkg-config --libs $packages | sed 's/-lwengert[a-z-]*//g') $(pkg-config --static --libs wengert | sed 's/-lwengert//') || complain 'static libraries do not link'
"$dir/user" || complain 'a program with all of them, linked statically, does not run'

echo "adapters: $ADAPTERS"
exit $bad
