# SPDX-License-Identifier: MIT
# readme - every ```c block of README.md that has a main() is compiled as a user would, against an
# installed tree by pkg-config, and run; a ```text or ```output block that comes next, before any
# other block, is what it prints. Other ```c blocks are read by people only.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

awk -v dir="$dir" '
    /^```/ && !inside {
        inside = 1; fence = $0; out = ""
        if (fence ~ /^```c$/) { n++; out = sprintf("%s/%02d.c", dir, n) }
        else if (fence ~ /^```(text|output)$/ && last_c) { out = sprintf("%s/%02d.expected", dir, n) }
        if (out) printf "" > out
        last_c = fence ~ /^```c$/
        next
    }
    /^```/ { inside = 0; if (out) close(out); next }
    inside && out { print > out }' README.md

# one at a time: wengert.pc is of the prefix
flock "$B/install.lock" env -u MAKEFLAGS "$MAKE" -s install DESTDIR="$dir/root" prefix=/usr libdir=/usr/lib \
    B="$B" CC="$CC" CPPFLAGS="$CPPFLAGS" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" >/dev/null
export PKG_CONFIG_SYSROOT_DIR="$dir/root" PKG_CONFIG_PATH="$dir/root/usr/lib/pkgconfig"
export LD_LIBRARY_PATH="$dir/root/usr/lib"

programs=0
for source in "$dir"/[0-9]*.c; do
    grep -qE '^int main *\(' "$source" 2>/dev/null || continue
    programs=$((programs + 1))
    name=${source%.c}
    $CC -std=c11 -Wall -Wextra -Werror -O2 "$source" -o "$name" $(pkg-config --cflags --libs wengert) -lm
    "$name" >"$name.out"
    if [ -f "$name.expected" ]; then diff -u "$name.expected" "$name.out"; fi
done
echo "$programs programs of README.md compiled and run"
[ "$programs" -gt 0 ]
