# SPDX-License-Identifier: MIT
# convert - what wengert-convert says. A file of test/convert/refused says in its head:
#     options: OPTIONS   what the converter is asked for
#     says: WORDS        these are in its answer
#     status: N          it ends with N, where it is not 1 (0: a warning, and the text compiles)
# Then the example of doc/CONVERT.md, its options, files that cannot be read or written, compile_commands.json, its own output, and
# wengert-cc in a build by make.
set -eu
converter=$PWD/$B/wengert-convert
[ -x "$converter" ] || { echo 'convert: no wengert-convert here: skipped (make deps-convert)'; exit 0; }
# a sanitizer's end is no refusal, which ends with 1, too
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=86" UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}exitcode=86"
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
answers 'half of --calls' 2 '--calls needs PARAMETER=FUNCTION' -- --calls f
answers 'an option that is none' 2 '--frobnicate is no option' -- $simple -o "$dir/a.c" --frobnicate
answers 'more directions than there are' 2 '--directions 17: a number of 0 to 16' -- $simple -o "$dir/a.c" --directions 17
answers 'more rows than there are' 2 '--rows 17: a number of 0 to 16' -- $simple -o "$dir/a.c" --rows 17
answers 'directions that are none' 2 '--directions few: a number of 0 to 16' -- $simple -o "$dir/a.c" --directions few
answers 'operations in line that are no number' 2 '--inline few: a number of operations' -- $simple -o "$dir/a.c" --inline few
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

# Of headers each once, and those that are read.
printf 'typedef double number;\n' >"$dir/number.h"
printf '#include "number.h"\n#ifdef ABSENT\n#include "absent.h"\n#endif\n#include "number.h"\nnumber f(number x) { return (float)x + (float)(x * x); }\n' >"$dir/headers.c"
answers 'headers' 0 "headers.c:6: warning: '(float)x' is not rounded" -- "$dir/headers.c" --function f --with-respect-to x --of return -o "$dir/headers_wg.c"
[ "$(grep -c warning "$dir/said")" = 1 ] || complain 'a second warning of float in one function'
[ "$(grep -c '#include "' "$dir/headers_wg.h")" = 1 ] || complain 'headers_wg.h includes more than number.h, once'

# Its own output.
answers 'conversion' 0 '' -- $simple -o "$dir/scalars_wg.c"
answers 'its own output' 1 "$dir/scalars_wg.c:1: error: has been converted already" -- "$dir/scalars_wg.c" --function f --with-respect-to x,y --of return -o "$dir/twice.c" -- -Iinclude
[ ! -e "$dir/twice.c" ] || complain 'converts its own output'

# The example of doc/CONVERT.md.
block() { awk -v from="$1" -v to="$2" 'index($0, from) == 1 { p = 1; next } index($0, to) == 1 { p = 0 } p' doc/CONVERT.md | sed 's/^    //'; }
mkdir "$dir/doc"
block '`spring.c`' 'One command' >"$dir/doc/spring.c"
block 'and a callback' '    cc use.c' >"$dir/doc/use.c"
block 'In `spring_wg.c`' 'and a callback' | sed '/^$/d' >"$dir/doc/shown"
block '    ./a.out' 'All of the library' | sed '/^$/d' >"$dir/doc/expected"
answers 'the example of doc/CONVERT.md' 0 '' -- "$dir/doc/spring.c" --function energy --with-respect-to 'x[0:n]' --of return -o "$dir/doc/spring_wg.c"
sed -n '/^wg_real energy_wg/,/^}/p' "$dir/doc/spring_wg.c" | diff -u "$dir/doc/shown" - >&2 || complain 'doc/CONVERT.md shows other code'
$CC -Wall -Wextra -Werror -Iinclude -o "$dir/doc/a.out" "$dir/doc/use.c" "$dir/doc/spring_wg.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm &&
    "$dir/doc/a.out" | diff -u "$dir/doc/expected" - >&2 || complain 'the example of doc/CONVERT.md prints something else'

# The same for three types.
block 'the run:' '    0.7856' >"$dir/doc/dual.c"
sed -n '/^    0.7856: /s/^    //p' doc/CONVERT.md >"$dir/doc/expected"
answers 'three types of doc/CONVERT.md' 0 '' -- "$dir/doc/spring.c" --to generic --function energy --with-respect-to 'x[0:n]' --of return -o "$dir/doc/spring_wg.c"
$CC -Wall -Wextra -Werror -Iinclude -o "$dir/doc/a.out" "$dir/doc/dual.c" "$dir/doc/spring_wg.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm &&
    "$dir/doc/a.out" | diff -u "$dir/doc/expected" - >&2 || complain 'three types of doc/CONVERT.md print something else'
$CC -Iinclude $CFLAGS -c -o "$dir/doc/spring_wg.o" "$dir/doc/spring_wg.c"
if $CC -DWG_DUAL_WIDTH=2 -Iinclude -o "$dir/doc/a.out" "$dir/doc/dual.c" "$dir/doc/spring_wg.o" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm 2>/dev/null; then complain 'duals of two widths are linked'; fi

# Pointers that lead elsewhere than is known when it is converted: a status.
answers 'a pointer to functions' 0 '' -- test/convert/callback_parameter.c --to adjoint $(said test/convert/callback_parameter.c options) -o "$dir/euler_b.c"
cat >"$dir/inside.c" <<'C'
struct work {
    int n;
    double *at;
    double more[2];
};
double f(struct work *w) {
    w->more[0] = w->at[0] * w->at[0];
    return w->more[0] + w->at[1];
}
C
for to in tape adjoint; do
    answers "pointers into a structure, $to" 0 '' -- "$dir/inside.c" --to $to --function f --with-respect-to 'w->at[0:2]' --of return -o "$dir/inside_$to.c"
done
cat >"$dir/elsewhere.c" <<'C'
#include <wengert.h>
C
cat "$dir/euler_b.h" >>"$dir/elsewhere.c"
cat >>"$dir/elsewhere.c" <<'C'
static void other(double t, double y[], double to[]) { to[0] = t * y[0]; }
void decay(double t, double y[], double to[]);
int main(void) {
    double y0 = 0.5, y, w = 1, g;
    euler_wg_arguments a = {.f = decay, .n = 2, .h = 0.5, .y = &y0};
    if (euler_wg_vjp(1, &y0, 1, &y, &w, &g, &a) != WG_OK) return 1;
    a.f = other;
    return euler_wg_vjp(1, &y0, 1, &y, &w, &g, &a) != WG_EARG;
}
C
$CC -Wall -Wextra -Iinclude -o "$dir/elsewhere" "$dir/elsewhere.c" "$dir/euler_b.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm && "$dir/elsewhere" ||
    complain 'a pointer to another function has no status'
cat >"$dir/use_inside.c" <<'C'
int main(void) {
    struct work s = {.n = 2, .more = {3, 4}}, t = s;
    double x[2] = {3, 4}, y, w = 1, g[2];
    s.at = s.more, t.at = x;
    f_wg_arguments a = {.w = &t}, b = {.w = &s};
#ifdef TAPE
    wg_tape *const tape = wg_tape_new(NULL);
    const wg_status good = wg_gradient(tape, f_wg_callback, &a, 2, x, &y, g);
    const wg_status bad = wg_gradient(tape, f_wg_callback, &b, 2, x, &y, g);
    (void)w;
    wg_tape_free(tape);
#else
    const wg_status good = f_wg_vjp(2, x, 1, &y, &w, g, &a), bad = f_wg_vjp(2, x, 1, &y, &w, g, &b);
#endif
    return good != WG_OK || bad != WG_EARG;
}
C
# A matrix that is singular: the same status with a tape and without.
cat >"$dir/solve.c" <<'C'
int LAPACKE_dgesv(int order, int n, int k, double *a, int lda, int *pivot, double *b, int ldb);
double f(int n, const double *x) {
    double a[4] = {x[0], x[1], x[1], x[2]}, b[2] = {1, x[3]};
    int pivot[2];
    (void)LAPACKE_dgesv(102, n, 1, a, 2, pivot, b, 2);
    return b[0] * b[1];
}
C
cat >"$dir/use_solve.c" <<'C'
int main(void) {
    const double x[4] = {3, 1, 2, 0.5}, singular[4] = {4, 2, 1, 3};
    double y, w = 1, g[4];
    f_wg_arguments a = {.n = 2, .x = x};
#ifdef TAPE
    wg_tape *const tape = wg_tape_new(NULL);
    const wg_status good = wg_gradient(tape, f_wg_callback, &a, 4, x, &y, g);
    const wg_status bad = wg_gradient(tape, f_wg_callback, &a, 4, singular, &y, g);
    (void)w;
    wg_tape_free(tape);
#else
    const wg_status good = f_wg_vjp(4, x, 1, &y, &w, g, &a), bad = f_wg_vjp(4, singular, 1, &y, &w, g, &a);
#endif
    return good != WG_OK || bad != WG_ESINGULAR;
}
C
for to in tape adjoint; do
    answers "a system, $to" 0 '' -- "$dir/solve.c" --to $to --function f --with-respect-to 'x[0:4]' --of return -o "$dir/solve_$to.c"
    { echo '#include <wengert.h>'; cat "$dir/solve_$to.c" "$dir/use_solve.c"; } >"$dir/solve_use.c"
    [ $to = tape ] && taped=-DTAPE || taped=
    $CC -Wall -Wextra $taped -Iinclude "-I$dir" -o "$dir/solve" "$dir/solve_use.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm && "$dir/solve" ||
        complain "a singular matrix has no status, $to"
done
for to in tape adjoint; do
    { echo '#include <wengert.h>'; cat "$dir/inside_$to.c" "$dir/use_inside.c"; } >"$dir/inside_use.c"
    [ $to = tape ] && taped=-DTAPE || taped=
    $CC -Wall -Wextra $taped -Iinclude "-I$dir" -o "$dir/inside" "$dir/inside_use.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm && "$dir/inside" ||
        complain "a pointer into its structure has no status, $to"
done

# Arguments that do not fit: a status before anything is written, and with a tape words, whichever way it was converted.
cat >"$dir/counts.c" <<'C'
double f(const double *const *in, double *work) {
    work[0] = in[0][0] * *in[1];
    return work[0] * in[0][1];
}
C
cat >"$dir/use_counts.c" <<'C'
#include <stdio.h>
#include <string.h>
int main(void) {
    const double x[3] = {2, 3, 5}, *const in[2] = {x, x + 2}, *const one[2] = {x, NULL};
    const size_t counts[2] = {2, 1}, few[2] = {1, 1}, none[2] = {2, 0};
    double work[1] = {0}, y, w = 1, g[3];
    const struct {
        f_wg_arguments a;
        size_t n;
        wg_status s;
        const char *says;
    } c[] = {{{.in = in, .in_counts = counts, .work = work, .work_count = 1}, 3, WG_OK, ""},
             {{.in = in, .in_counts = counts, .work = work, .work_count = 1}, 2, WG_ESHAPE, "other numbers of inputs"},
             {{.in = in, .in_counts = few, .work = work, .work_count = 1}, 3, WG_ESHAPE, "in leads to fewer numbers"},
             {{.in = in, .in_counts = none, .work = work, .work_count = 1}, 3, WG_ESHAPE, "in leads to fewer numbers"},
             {{.in = one, .in_counts = counts, .work = work, .work_count = 1}, 3, WG_ESHAPE, "in leads to fewer numbers"},
             {{.in = NULL, .in_counts = counts, .work = work, .work_count = 1}, 3, WG_ESHAPE, "in leads to fewer numbers"},
             {{.in = in, .work = work, .work_count = 1}, 3, WG_ESHAPE, "in_counts is NULL"},
             {{.in = in, .in_counts = counts, .work = work}, 3, WG_ESHAPE, "work_count is 0"}};
    int bad = 0;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        f_wg_arguments a = c[k].a;
#ifdef ADJOINT
        const wg_status s = f_wg_vjp(c[k].n, x, 1, &y, &w, g, &a);
        const int said = 1;
#else
        wg_tape *const t = wg_tape_new(NULL);
        const wg_status s = wg_gradient(t, f_wg_callback, &a, c[k].n, x, &y, g);
        const char *const rows = "a count that is missing, or less than what is asked for", *const text = wg_tape_message(t);
        const int said = strstr(text, c[k].says) != NULL || strstr(text, rows) != NULL;
        if (!said) fprintf(stderr, "case %zu: %s\n", k, text);
        wg_tape_free(t);
        (void)w;
#endif
        if (s != c[k].s || !said || (k == 0 && (y != 30 || g[0] != 15 || g[1] != 10 || g[2] != 6))) bad = 1, fprintf(stderr, "case %zu\n", k);
    }
    return bad;
}
C
for way in tape adjoint 'blocks --directions 2 --rows 1' 'blocks --directions 8'; do
    answers "counts, $way" 0 '' -- "$dir/counts.c" --to $way --function f --with-respect-to 'in[0][0:2],in[1]' --of return -o "$dir/counts_wg.c"
    { echo '#include <wengert.h>'; cat "$dir/counts_wg.c" "$dir/use_counts.c"; } >"$dir/counts_use.c"
    [ "$way" = adjoint ] && alone=-DADJOINT || alone=
    $CC -Wall -Wextra $alone -Iinclude "-I$dir" -o "$dir/counts" "$dir/counts_use.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm && "$dir/counts" ||
        complain "arguments that do not fit, $way"
done

# Which way a region went is nothing that a function of other points knows: a tape that keeps its code refuses, also where
# the region gives numbers, or one of its inputs.
cat >"$dir/ways.c" <<'C'
double f(double x, double y) {
    if (x > y) return 3;
    return 4;
}
double g(double x, double y) {
    double larger = y;
    if (x > y) larger = x;
    return larger;
}
C
cat >"$dir/use_ways.c" <<'C'
int main(void) {
    const double x[2] = {0.5, 3};
    double y, d[2];
    F_wg_arguments a = {.x = 0};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE}), *const u = wg_tape_new(NULL);
    const wg_status kept = wg_gradient(t, F_wg_callback, &a, 2, x, &y, d);
    const wg_status plain = wg_gradient(u, F_wg_callback, &a, 2, x, &y, d);
    wg_tape_free(t), wg_tape_free(u);
    return kept != WG_EMODE || plain != WG_OK;
}
C
for f in f g; do
    for way in '--directions 0 --rows 0' '--directions 0 --rows 1' '--directions 8'; do
        answers "ways of a region, $f" 0 '' -- "$dir/ways.c" --to blocks $way --function $f --with-respect-to x,y --of return -o "$dir/ways_wg.c"
        { echo '#include <wengert.h>'; cat "$dir/ways_wg.c"; sed "s/F_wg/${f}_wg/g" "$dir/use_ways.c"; } >"$dir/ways_use.c"
        $CC -Wall -Wextra -Iinclude "-I$dir" -o "$dir/ways" "$dir/ways_use.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm && "$dir/ways" ||
            complain "a tape that keeps its code takes what a region of $f gives, $way"
    done
done

# Two files over duals of two widths do not compile as one, but the one with more inputs first.
printf 'double f(double x, double y) { return x * y; }\n' >"$dir/two.c"
printf 'double g(const double *x) { return x[0] * x[4]; }\n' >"$dir/five.c"
answers 'two inputs' 0 '' -- "$dir/two.c" --to blocks --function f --with-respect-to x,y --of return -o "$dir/two_wg.c"
answers 'five inputs' 0 '' -- "$dir/five.c" --to blocks --function g --with-respect-to 'x[0:5]' --of return -o "$dir/five_wg.c"
cat "$dir/five_wg.c" "$dir/two_wg.c" >"$dir/widths.c"
$CC -Iinclude "-I$dir" -fsyntax-only "$dir/widths.c" || complain 'five inputs, then two, do not compile as one file'
cat "$dir/two_wg.c" "$dir/five_wg.c" >"$dir/widths.c"
if $CC -Iinclude "-I$dir" -fsyntax-only "$dir/widths.c" 2>/dev/null; then complain 'duals of two have the derivatives of five'; fi

# A build by make, with wengert-cc in the place of the compiler: two files, one of which is converted, into
# a folder of its own, with dependencies.
mkdir "$dir/bin" "$dir/src"
ln -s "$converter" "$dir/bin/wengert-convert"
cp convert/wengert-cc "$dir/bin/"
cat >"$dir/src/model.h" <<'C'
double model(int n, const double *p, double at);
C
cat >"$dir/src/model.c" <<'C'
#include <math.h>
#include "model.h"

/* a sum of exponentials */
double model(int n, const double *p, double at) {
    double s = 0;
    for (int i = 0; i < n; i += 2) s += p[i] * exp(-p[i + 1] * (at + OFFSET));
    return s;
}
C
cat >"$dir/src/main.c" <<'C'
#include <stdio.h>
#include "model.h"
#include "model_wg.h"

int main(void) {
    const double p[4] = {2, 0.5, 1, 0.25};
    double y, j[4];
    model_wg_arguments a = {.n = 4, .p = p, .at = 1};
    wg_tape *t = wg_tape_new(NULL);
    if (wg_jacobian(t, model_wg_callback, &a, 4, p, 1, &y, WG_ROW_MAJOR, j, 4) != WG_OK) return 1;
    printf("%.4f %.4f %.4f: %.4f %.4f %.4f %.4f\n", model(4, p, 1), model(2, p, 1), y, j[0], j[1], j[2], j[3]);
    wg_tape_free(t);
    return 0;
}
C
cat >"$dir/src/Makefile" <<'C'
CC = cc
CFLAGS = -O1 -Wall -Wextra -Werror -MMD '-DOFFSET=0'
all: out/main
out/main: out/main.o out/model.o
	$(CC) -o $@ $^ $(LIBS)
out/main.o: out/model.o
out/%.o: %.c
	$(CC) $(CFLAGS) -I. -Iout -c -o $@ $<
-include out/main.d out/model.d
C
mkdir "$dir/src/out"
by_make() {
    WENGERT_CC=$CC env -u MAKEFLAGS -u MFLAGS make -s -C "$dir/src" CC="$dir/bin/wengert-cc --function model --with-respect-to p[0:n] --of return" \
        CPPFLAGS= CFLAGS="-O1 -Wall -Wextra -Werror -MMD -DOFFSET=0 -I$PWD/include" LIBS="$PWD/$B/libwengert.a $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm" >"$dir/said" 2>&1
}
by_make || { complain 'a build with wengert-cc fails'; cat "$dir/said" >&2; }
"$dir/src/out/main" >"$dir/printed" || complain 'the program that wengert-cc built fails'
[ "$(cat "$dir/printed")" = '1.9919 1.2131 1.9919: 0.6065 -1.2131 0.7788 -0.7788' ] || complain "the program that wengert-cc built prints $(cat "$dir/printed")"
grep -q 'model\.c' "$dir/src/out/model.d" && ! grep -q 'model_wg\.c' "$dir/src/out/model.d" ||
    complain "dependencies by wengert-cc: $(cat "$dir/src/out/model.d")"
[ "$(grep -c wengert-convert "$dir/src/out/model_wg.h")" = 1 ] || complain 'wengert-cc leaves no header'
touch "$dir/src/out/before"
echo '/* changed */' >>"$dir/src/model.h"
by_make && [ "$dir/src/out/model.o" -nt "$dir/src/out/before" ] || complain 'a changed header makes no new object'
# In one step; refused; misused.
WENGERT_CC=$CC "$dir/bin/wengert-cc" --function model --with-respect-to 'p[0:n]' --of return -DOFFSET=0 -Iinclude "-I$dir" "-I$dir/src" -o "$dir/one" \
    "$dir/src/model.c" "$dir/src/main.c" "$B/libwengert.a" $LDFLAGS $CFLAGS $MATH_LIBS -ldl -lm >"$dir/said" 2>&1 && [ "$("$dir/one")" = "$(cat "$dir/printed")" ] ||
    { complain 'wengert-cc does not compile and link at once'; cat "$dir/said" >&2; }
status=0
"$dir/bin/wengert-cc" --function model --with-respect-to q --of return -DOFFSET=0 -c -o "$dir/refused.o" "$dir/src/model.c" 2>"$dir/said" || status=$?
[ "$status" = 1 ] && [ ! -e "$dir/refused.o" ] || complain "wengert-cc of what is refused ends with $status"
grep -q "'q': model has no parameter" "$dir/said" || complain "wengert-cc says: $(cat "$dir/said")"

echo "$count files, 14 ways to ask"
exit $bad
