# SPDX-License-Identifier: MIT
# includes - the house rules a compiler does not know:
#   adapters/, bench/ and examples/ see only include/ and their own; who includes whom in the library: rooms.sh;
#   one file includes cblas.h and lapacke.h: ops/matrix/blas.h; one file obtains memory: tape/engine/memory.c;
#   the library does not print, end the process, or keep a variable of its own.
# The last is read off the objects, where no macro hides it.
set -eu
bad=0
complain() { echo "includes: $1" >&2; bad=1; }

# quoted FOLDER...: "file: included" for every #include "..." of the folders' files
quoted() {
    for folder; do
        for file in "$folder"/*.c "$folder"/*.h "$folder"/*.cpp "$folder"/*.hpp; do
            [ ! -f "$file" ] || sed -n 's|^ *# *include *"\([^"]*\)".*|'"$file"': \1|p' "$file"
        done
    done
}
# allow FOLDERS PATTERN: what they include by "..." matches the pattern
allow() {
    found=$(quoted $1 | grep -vE ": ($2)\$" || true)
    [ -z "$found" ] || complain "not for $1 to include:
$found"
}
file='[a-z0-9_]+\.(h|hpp|def|c|inc)'
allow 'include include/wengert' 'none'
allow 'examples bench bench/workloads bench/peers bench/gradbench' '(\.\./|bench/|workloads/|peers/|harness/|gradbench/)*'"$file"
allow "$(ls -d adapters/*/ | tr '\n' ' ')" '(wengert/|test/|examples/nist_)?'"$file"
found=$(grep -nE '^ *# *include *[<"]([./a-z]*/)?(ops|tape|include|test)/' \
    $(ls adapters/*/*.c | grep -v '/test_') adapters/*/wengert/*.h examples/*.[ch] bench/*.[ch] bench/*/*.[ch]* include/*.h include/wengert/* || true)
[ -z "$found" ] || complain "beyond include/:
$found"

found=$(grep -nE '^ *# *include *[<"](cblas|lapacke|openblas|f77blas)[a-z_]*\.h' \
    -r include ops tape | grep -v '^ops/matrix/blas\.h:' || true)
[ -z "$found" ] || complain "only ops/matrix/blas.h includes cblas.h and lapacke.h:
$found"

# calls NAMES: members of the library that refer to one of the names. fwrite is not among them:
# wg_write_file is for a FILE of the caller's; stdout and stderr are.
calls() {
    nm -A -u "$B/libwengert.a" 2>/dev/null | sed 's/@.*//; s/^[^:]*:\([^:]*\):.* /\1 /' |
        grep -E " ($1)\$" || true
}
found=$(calls '_?_?[fvd]*printf(_chk)?|v?fprintf|puts|fputs|putc|putchar|fputc|perror|write|stdout|stderr|exit|_exit|_Exit|quick_exit|abort|__assert_fail|_?longjmp|__longjmp_chk|raise|kill|signal|sigaction|getenv|setlocale|strtok|rand|srand' |
    grep -v '^process\.o kill$' || true) # a compiler that the user stops
[ -z "$found" ] || complain "the library neither prints nor ends the process nor uses state of libc:
$found"
found=$(calls 'malloc|calloc|realloc|free|aligned_alloc|posix_memalign|mmap(64)?|munmap|mprotect|madvise' | grep -v '^memory\.o ' || true)
[ -z "$found" ] || complain "only tape/engine/memory.c obtains memory:
$found"
found=$(size -A "$B/libwengert.a" | awk '/ex |:$/ { member = $1 }
    /^\.(data|bss|tdata|tbss)/ && !/^\.data\.rel\.ro/ && $2 > 0 { print member, $1, $2, "bytes" }')
[ -z "$found" ] || complain "variables of the library's own:
$found"

exit $bad
