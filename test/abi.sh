# SPDX-License-Identifier: MIT
# abi - the symbols the shared library exports are those of test/abi.txt, all wg_ or wgi_; so are the
# names the static library shows to a linker. Those with wgi_ are what macros and inline functions of the
# public headers need, and marked WGI_API there. `--write LIBRARY` writes test/abi.txt (`make abi`).
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

# A name that macros put together stands there as wgi_let_##n. What is declared is not yet needed.
odd=$(cat include/wengert.h include/wengert/* | awk '
    FNR == NR { if (/^wgi_/) exported[$1] = 1; next }
    /WG_API.* \**wgi_/ { print "not marked WGI_API: " $0 }
    {
        declared = /WGI_API|WGI_LIST/
        while (match($0, /wgi_[A-Za-z0-9_]+(##n)?/)) {
            name = substr($0, RSTART, RLENGTH)
            $0 = substr($0, RSTART + RLENGTH)
            if (name in exported && declared) there[name] = 1
            else needed[name] = 1
            declared = declared && !(name in exported)
        }
    }
    END {
        for (name in exported) {
            made = name
            sub(/[0-9]+$/, "##n", made)
            if (!(name in there)) print "not marked in a public header: " name
            else if (!(name in needed) && !(made in needed)) print "no public header needs: " name
        }
    }' test/abi.txt -)
if [ "$odd" ]; then
    printf 'abi: internal names\n%s\n' "$odd" >&2
    exit 1
fi
bare=$(nm -g --defined-only "$B/libwengert.a" | awk 'NF == 3 && $3 !~ /^wgi?_/ { print $3 }')
if [ "$bare" ]; then
    echo "abi: names without wg_ or wgi_:" $bare >&2
    exit 1
fi
