# SPDX-License-Identifier: MIT
# install - `make install DESTDIR=...` is a tree a C and a C++ user can work with, through pkg-config
# and cmake, shared and static; `make uninstall` leaves nothing.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
root=$dir/root

# one at a time: wengert.pc is of the prefix
house() {
    flock "$B/install.lock" env -u MAKEFLAGS "$MAKE" -s "$1" DESTDIR="$root" prefix=/opt/wg libdir=/opt/wg/lib64 \
        B="$B" CC="$CC" CPPFLAGS="$CPPFLAGS" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" >/dev/null
}
fail() { echo "install: $1" >&2; exit 1; }

# Who says PREFIX does not install into /usr/local.
env -u MAKEFLAGS -u prefix "$MAKE" -sn install PREFIX=/opt/other B="$B" CC="$CC" 2>/dev/null |
    grep -qF "'/opt/other/lib/pkgconfig'" || fail "PREFIX is not where it installs"

house install
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH="$root/opt/wg/lib64/pkgconfig"
export LD_LIBRARY_PATH="$root/opt/wg/lib64"
version=$(sed -n 's/^#define WG_VERSION "\(.*\)"/\1/p' include/wengert/config.h)
[ "$(pkg-config --modversion wengert)" = "$version" ] || fail "wengert.pc has another version"

# Nothing of the checkout is in what was installed.
! grep -rqF "$PWD" "$root/opt/wg/lib64/pkgconfig" || fail "wengert.pc names the checkout"

# What the installed texts link is installed, too.
(
    cd "$root/opt/wg/share/doc/wengert"
    grep -o ']([^):]*)' ./*.md */*.md | while IFS=: read -r text linked; do
        linked=${linked#*(} linked=${linked%)}
        case $linked in '#'*) continue ;; esac
        [ -e "${text%/*}/${linked%%#*}" ] || { echo "$text links $linked" >&2; exit 1; }
    done
) || fail "a file that an installed text links is not there"
cp -r include "$dir/include"
for name in $ADAPTERS; do cp adapters/"$name"/wengert/*.h "$dir/include/wengert"; done
diff -r -x README.md "$dir/include" "$root/opt/wg/include" >&2 || fail "include/ is not what was installed"

# The converter, where it is built, and its page.
if [ -x "$B/wengert-convert" ]; then
    bin=$root/opt/wg/bin
    printf 'double f(double x) { return x * x; }\n' >"$dir/square.c"
    "$bin/wengert-convert" "$dir/square.c" --function f --with-respect-to x --of return -o "$dir/square_wg.c" ||
        fail "the installed wengert-convert does not convert"
    WENGERT_CC=$CC "$bin/wengert-cc" --function f --with-respect-to x --of return $(pkg-config --cflags wengert) \
        -c -o "$dir/square.o" "$dir/square.c" || fail "the installed wengert-cc does not compile"
    [ "$(head -c 4 "$root/opt/wg/share/man/man1/wengert-convert.1")" = '.\" ' ] || fail "no man page of wengert-convert"
    [ "$(cat "$root/opt/wg/share/man/man1/wengert-cc.1")" = '.so man1/wengert-convert.1' ] || fail "no man page of wengert-cc"
else
    echo 'install: no wengert-convert is built, its installation was not tried'
fi

# Powers of two: every rounding is exact.
cat >"$dir/user.c" <<'C'
#include <wengert.h>
#include <stdio.h>
int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 2.0), y = wg_input(t, 8.0);
    wg_real r = wg_let(t, wg_sqrt(wg_mul(x, y)));
    wg_status s = wg_reverse(t, r);
    double gx = wg_adjoint(t, x), gy = wg_adjoint(t, y);
    printf("%g %g %g %s\n", wg_value(r), gx, gy, wg_status_text(s));
    wg_tape_free(t);
    return s != WG_OK || wg_value(r) != 4 || gx != 1 || gy != 0.25;
}
C
sed 's/<stdio.h>/<cstdio>/; s/NULL/nullptr/; s/printf/std::printf/' "$dir/user.c" >"$dir/user.cpp"
build() { # COMPILER SOURCE FLAGS...
    compiler=$1 source=$2
    shift 2
    $compiler -O2 "$dir/$source" -o "$dir/user" "$@" || fail "$source does not build ($*)"
    "$dir/user" || fail "$source gives a wrong answer ($*)"
}
build "$CC -std=c11 -Wall -Wextra -Werror" user.c $(pkg-config --cflags --libs wengert)
readelf -d "$dir/user" | grep -q 'NEEDED.*libwengert\.so\.[0-9]*\]' || fail "no soname in what a user links"
build "$CC -std=gnu17 -Wall -Wextra -Werror" user.c $(pkg-config --cflags wengert) \
    "$root/opt/wg/lib64/libwengert.a" $(pkg-config --static --libs wengert | sed 's/-lwengert//')
build "$CXX -std=c++17 -Wall -Wextra -Werror" user.cpp $(pkg-config --cflags --libs wengert)

if command -v cmake >/dev/null; then
    cat >"$dir/CMakeLists.txt" <<C
cmake_minimum_required(VERSION 3.5)
project(user C)
find_package(wengert $version EXACT REQUIRED)
add_executable(with_shared user.c)
target_link_libraries(with_shared wengert::wengert)
add_executable(with_static user.c)
target_link_libraries(with_static wengert::static)
C
    CC=${CC%% *} cmake -S "$dir" -B "$dir/cmake" -Dwengert_DIR="$root/opt/wg/lib64/cmake/wengert" >"$dir/log" 2>&1 &&
        cmake --build "$dir/cmake" >>"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "cmake cannot use what was installed"; }
    for user in with_shared with_static; do
        "$dir/cmake/$user" || fail "$user of cmake gives a wrong answer"
    done
else
    echo 'install: cmake is not there, find_package was not tried'
fi

house uninstall
left=$(find "$root" ! -type d; find "$root" -type d -name 'wengert*')
[ -z "$left" ] || fail "left behind: $left"
