# SPDX-License-Identifier: MIT
# machine_code - what the compiler leaves of a statement, looked up in the code of the loops of
# test/machine_code.c, for gcc and clang, the baseline, AVX2 and AVX-512.
#
# The hot part of a function is what can be reached from its entry without going where every way
# leads to wgi_let (or to a .cold part, or to the sqrt of libm: only negative numbers go there, for
# errno). In each loop of the hot part:
#   - nothing is called but libm;
#   - the stores to the stack are no more than the number at the end of the function's name. An
#     expression that is built in memory takes at least two stores per operand (handle, partial), so
#     2 to 16; a spilled register takes one. A loop without libm calls has registers for all it needs
#     unless it has 8 operands; across a call of libm every floating-point number is spilled;
#   - nothing is scattered: a vectorised recorder is 5 times slower.
# Nowhere, hot or not, is a product added without being rounded first: the bits of a recording are
# those of its replay.
# A function whose name starts with bad_ breaks these rules on purpose, and must be found.
set -eu
if [ "$(uname -m)" != x86_64 ] || ! command -v objdump >/dev/null; then
    echo 'machine_code: for x86-64 with objdump, left out'
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/look.awk" <<'A'
function hex(s) { sub(/^0+/, "", s); return s == "" ? "0" : s }

# The loop through instruction k: what is reached from k and reaches k, in the hot part.
function loop_of(k,    i, j, top, stack) {
    split("", ahead); split("", back)
    top = 0; stack[++top] = k
    while (top > 0) {
        i = stack[top--]
        for (j = 1; j <= outs[i]; j++) if (hot[out[i, j]] && !ahead[out[i, j]]) { ahead[out[i, j]] = 1; stack[++top] = out[i, j] }
    }
    top = 0; stack[++top] = k
    while (top > 0) {
        i = stack[top--]
        for (j = 1; j <= ins[i]; j++) if (hot[into[i, j]] && !back[into[i, j]]) { back[into[i, j]] = 1; stack[++top] = into[i, j] }
    }
}

function edge(from, to) { out[from, ++outs[from]] = to; into[to, ++ins[to]] = from }

function finish(    i, j, k, all, changed, top, stack, may, bad, stores, calls, loops, statements, why) {
    if (n == 0) return
    split("", outs); split("", ins); split("", cold); split("", hot); split("", done)
    for (i = 1; i <= n; i++) {
        leaves[i] = 0 # to somewhere outside, taken for cold
        if (op[i] ~ /^j/) {
            if (relocated[i] || !(target[i] in at)) leaves[i] = 1
            else edge(i, at[target[i]])
        }
        if (op[i] !~ /^(jmp|ret|ud2|hlt)/ && i < n) edge(i, i + 1)
    }
    for (changed = 1; changed;) {
        changed = 0
        for (i = n; i > 0; i--) {
            if (cold[i]) continue
            all = outs[i] + leaves[i] > 0
            for (j = 1; j <= outs[i]; j++) if (!cold[out[i, j]]) all = 0
            if (all || called[i] ~ /^(wgi_let|sqrt)/) { cold[i] = 1; changed = 1 }
        }
    }
    top = 0
    if (!cold[1]) { stack[++top] = 1; hot[1] = 1 }
    while (top > 0) {
        i = stack[top--]
        for (j = 1; j <= outs[i]; j++) {
            k = out[i, j]
            if (!cold[k] && !hot[k]) { hot[k] = 1; stack[++top] = k }
        }
    }
    for (i = 1; i <= n; i++) if (op[i] ~ /^vf[n]?m/ && why !~ /contracts/) why = why "; contracts"
    may = name; sub(/.*_/, "", may); may += 0
    bad = 0; loops = 0; statements = 0; most = 0
    for (i = 1; i <= n; i++) {
        if (op[i] !~ /^j/ || !hot[i] || outs[i] == 0) continue
        k = out[i, 1]
        if (k > i || !hot[k] || done[k]) continue
        loop_of(k)
        if (!ahead[k]) continue
        stores = 0; loops++
        for (j = 1; j <= n; j++) {
            if (!ahead[j] || !back[j]) continue
            done[j] = 1
            if (text[j] ~ /scatter/) why = why "; scatters"
            if (op[j] ~ /^call/ && called[j] !~ /^(exp|log|sqrt|__exp_finite|__log_finite)(@|-|\+|$)/)
                why = why "; calls " called[j]
            if (op[j] ~ /^push/ || (op[j] !~ /^(cmp|test|ucomis|vucomis|comis|vcomis|lea|nop|bt)/ &&
                (text[j] ~ /[ ,][-0-9a-fx]*\(%rsp[^)]*\)$/ || (frame && text[j] ~ /[ ,][-0-9a-fx]*\(%rbp[^)]*\)$/)) &&
                text[j] ~ /,/)) stores++
            if (op[j] ~ /^j/) for (top = 1; top <= outs[j]; top++) if (cold[out[j, top]]) statements++
            if (op[j] ~ /^j/ && leaves[j]) statements++
        }
        if (stores > most) most = stores
        if (stores > may) why = why "; " stores " stores to the stack"
    }
    if (loops == 0) why = why "; no loop was found"
    if (statements == 0) why = why "; no way to wgi_let was found"
    if (name ~ /^bad_/) {
        if (why == "") { print what ": " name " was not found wanting"; failed = 1 }
    } else if (why != "") { print what ": " name why; failed = 1 }
    if (verbose) print what ": " name ": " most " stores" why
    seen++
    n = 0
}

/^[0-9a-f]+ <.*>:$/ {
    finish()
    name = $2; gsub(/[<>:]/, "", name)
    split("", at); split("", relocated); split("", called); split("", target)
    frame = 0
    next
}
/^ *[0-9a-f]+:\t/ {
    n++
    split($0, part, "\t")
    address = part[1]; gsub(/[ :]/, "", address)
    at[hex(address)] = n
    text[n] = part[2]
    sub(/ *[#<].*/, "", text[n]); sub(/ +$/, "", text[n])
    split(part[2], word, / +/)
    op[n] = word[1]
    if (op[n] == "notrack" || op[n] == "bnd") op[n] = word[2]
    if (op[n] ~ /^j/) target[n] = hex(word[2])
    if (text[n] ~ /^mov +%rsp,%rbp$/) frame = 1
    next
}
/R_X86_64_/ { relocated[n] = 1; called[n] = $3; sub(/[-+]0x.*/, "", called[n]) }
END {
    finish()
    if (seen < 10) { print what ": " seen + 0 " functions seen"; failed = 1 }
    exit failed
}
A

bad=0
looks=0
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    for flags in -O2 '-O2 -mavx2' '-O2 -march=x86-64-v4' '-O3 -march=x86-64-v4'; do
        $cc -std=c11 $flags -ffp-contract=off -Iinclude -c -o "$dir/code.o" test/machine_code.c
        objdump -dr --no-show-raw-insn --section=.text "$dir/code.o" >"$dir/code"
        awk -v what="$cc $flags" -v verbose="${V:-}" -f "$dir/look.awk" "$dir/code" || bad=1
        looks=$((looks + 1))
    done
done
echo "$looks times looked at"
[ $looks -gt 0 ]
exit $bad
