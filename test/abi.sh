# SPDX-License-Identifier: MIT
# abi - the symbols the shared library exports are those of test/abi.txt, all wg_ or wgi_; so are the
# names the static library shows to a linker. `--write LIBRARY` writes test/abi.txt (`make abi`).
set -eu

exported() { nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort; }

if [ "${1:-}" = --write ]; then
    exported "$2" >test/abi.txt
    exit 0
fi

if ! exported "$(ls "$B"/libwengert.so.*)" | diff -u test/abi.txt -; then
    echo 'abi: exported symbols changed. Meant? Then `make abi`, and a line in CHANGELOG.md' >&2
    exit 1
fi
bare=$(nm -g --defined-only "$B/libwengert.a" | awk 'NF == 3 && $3 !~ /^wgi?_/ { print $3 }')
if [ "$bare" ]; then
    echo "abi: names without wg_ or wgi_:" $bare >&2
    exit 1
fi
