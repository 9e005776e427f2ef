# SPDX-License-Identifier: MIT
# bench_compare - two stored files of results: what got slower beyond the spread is said and is the
# status; files that are none are refused with the place.
set -eu
data=test/data/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
compare=$B/bench/compare

# expect STATUS ARGUMENT...
expect() {
    want=$1 got=0
    shift
    "$compare" "$@" >"$dir/out" 2>&1 || got=$?
    [ "$got" -eq "$want" ] || { echo "compare $*: status $got, not $want" >&2; cat "$dir/out" >&2; exit 1; }
}

expect 1 $data/old.json $data/new.json
diff -u $data/compare.expected "$dir/out"
expect 0 $data/old.json $data/old.json
grep -q '^11 results in both: 0 slower, 0 faster, 10 within the spread, 1 of one sample; 0 gone, 0 new$' "$dir/out"
# what was faster is slower the other way round
expect 1 $data/new.json $data/old.json
grep -q '^slower   tape lstm 256, Wengert, derivative' "$dir/out"
expect 0 --percent 40 $data/old.json $data/new.json
expect 2 --percent -1 $data/old.json $data/new.json
expect 2 --percent x $data/old.json $data/new.json
expect 2 $data/old.json
for bad in "format: not of the format" "json: ']' expected" 'number: result 1: median: a number' \
    'order: result 2: seconds: positive' 'results: results: an array' 'text: result 1: tool: a text' \
    'environment: environment: texts'; do
    expect 2 $data/old.json "$data/bad_${bad%%:*}.json"
    grep -qF "compare: $data/bad_${bad%%:*}.json: ${bad#*: }" "$dir/out" || { cat "$dir/out" >&2; exit 1; }
done
expect 2 $data/old.json "$dir/missing.json"
# what one file has nothing of cannot have got slower or faster there
sed 's/"group": "/"group": "other /' $data/new.json >"$dir/other.json"
expect 2 $data/old.json "$dir/other.json"
grep -q '^compare: the files have no result in common$' "$dir/out"
# times that others disturbed are said to be so
sed 's/"q3"/"disturbed": 3, "q3"/' $data/new.json >"$dir/disturbed.json"
expect 1 $data/old.json "$dir/disturbed.json"
grep -q '^slower .* (disturbed)$' "$dir/out"
