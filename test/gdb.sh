# SPDX-License-Identifier: MIT
# gdb - the printers of include/wengert-gdb.py on a small program, where there is a gdb that can
# run one.
set -eu
command -v gdb >/dev/null || { echo 'gdb: not installed, left out'; exit 0; }
work=$B/gdb
mkdir -p "$work"
cat >"$work/user.c" <<'END'
#include <wengert.h>
__attribute__((noinline)) static void here(wg_tape *t, wg_real *x, wg_dual *d, wg_mark *m, wg_stats *s, wg_mat *a) {
    __asm__ volatile("" : : "g"(t), "g"(x), "g"(d), "g"(m), "g"(s), "g"(a) : "memory");
}
int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x[2] = {wg_input(t, 2.5), wg_constant(-1)};
    wg_dual d = wg_dual_with(wg_dual_input(3, 0), WG_DUAL_WIDTH - 1, 0.5);
    x[1] = wg_let(t, wg_mul(x[0], x[1]));
    const double v[6] = {1, 2, 3, 4, 5, 6.5};
    wg_mat a = wg_mat_transpose(wg_mat_constant(t, 3, 2, v, 3));
    wg_mark m = wg_tape_mark(t);
    wg_stats s;
    if (wg_tape_stats(t, &s) != WG_OK) return 1;
    here(t, x, &d, &m, &s, &a);
    x[0] = wg_constant(7);
    here(t, x, &d, &m, &s, &a);
    wg_tape_free(t);
    return 0;
}
END
for width in 1 4 16; do
    $CC -std=c11 -g -O0 -DWG_DUAL_WIDTH=$width -Iinclude $CPPFLAGS -o "$work/user" "$work/user.c" \
        "$B/libwengert.a" $LDFLAGS $MATH_LIBS -lm
    gdb -nx -batch -ex 'set confirm off' -ex 'source include/wengert-gdb.py' -ex 'break here' \
        -ex run -ex 'print x[0]' -ex 'print x[1]' -ex 'print x[1].at' -ex 'print *d' \
        -ex 'print *m' -ex 'print *a' -ex 'print *s' -ex 'print *t' -ex 'print/r x[0]' -ex continue \
        -ex 'print x[0]' "$work/user" >"$work/said" 2>&1 </dev/null || true
    if grep -qiE 'ptrace|not permitted|Python scripting is not supported' "$work/said"; then
        echo 'gdb: cannot run programs here, left out'
        exit 0
    fi
    case $width in
    1) row='0.5' ;;
    4) row='1, 0, 0, 0.5' ;;
    16) row='1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5' ;;
    esac
    for line in '= 2.5 (slot 1)' '= -2.5 (slot 2)' '= slot 2, stamp 0x' "= 3 [$row]" \
        '= mark before slot 3 and record 1' '= 1 statement, 1 record, ' 'memory_calls = ' \
        '= tape of 2 slots, room for ' '= {value = 2.5, at = ' '= 2-by-3 (constant)' '  4  5  6.5' '= 7 (constant)'; do
        grep -qF -e "$line" "$work/said" && continue
        cat "$work/said" >&2
        echo "gdb: not printed at width $width: $line" >&2
        exit 1
    done
done
