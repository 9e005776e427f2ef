# SPDX-License-Identifier: MIT
# gradbench - a session with the tool as GradBench holds it: a response to every line, in order, to
# the end, whatever is in between; options.
set -eu
tool=$B/bench/gradbench/main
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "gradbench: $1" >&2; exit 1; }

cat >"$dir/in" <<'LINES'
{"id": 0, "kind": "start", "eval": "hello"}
{"id": 1, "kind": "define", "module": "hello"}
{"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 3.25}

{"id": 3, "kind": "analysis", "of": 2, "valid": true}
not a message
{"id": 4, "kind": "evaluate", "module": "hello", "function": "double", "input": 10.5625}
{"id": 5, "kind": "end"}
{"id": 6, "kind": "define", "module": "after the end"}
LINES
cat >"$dir/wanted" <<'LINES'
{"id": 0, "tool": "wengert", "config": {"version": "VERSION", "threads": 1}}
{"id": 1, "success": true}
{"id": 2, "success": true, "output": 10.5625, "timings": T}
{"id": 3}
{"id": null, "success": false, "error": "not a JSON text: invalid token near 'not'"}
{"id": 4, "success": true, "output": 21.125, "timings": T}
{"id": 5}
LINES
"$tool" <"$dir/in" >"$dir/out" || fail "status $?"
sed 's/"timings": \[.*\]/"timings": T/; s/"version": "[^"]*"/"version": "VERSION"/' "$dir/out" |
    diff -u "$dir/wanted" - || fail 'other responses'
echo '{"id": 0, "kind": "start"}' | "$tool" --multithreaded=3 | grep -q '"threads": 3' ||
    fail 'threads are not taken'
[ -z "$("$tool" </dev/null)" ] || fail 'a response to nothing'
for option in --help --multithreaded=0 --multithreaded=x --multithreadedness; do
    if "$tool" $option </dev/null 2>"$dir/said"; then fail "$option is taken"; fi
    grep -q '^usage: ' "$dir/said" || fail "$option: no word of usage"
done
echo 'a session of 8 lines'
