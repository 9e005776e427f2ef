# SPDX-License-Identifier: MIT
# bench_page - the page and the plots of stored results; without gnuplot the page alone.
set -eu
data=test/data/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

holds() { grep -qF "$1" "$dir/index.html" || { echo "page: $1 is not in it" >&2; exit 1; }; }

"$B/bench/page" "$dir" $data/old.json $data/new.json
holds '<td>compiler <small>bench</small></td><td class="text">clang 14</td>'
holds '<li>ADOL-C: <b>'
holds '<td class="own">2&nbsp;ms <small>2×</small></td>'
holds '<td class="own">300&nbsp;ns</td>'
if command -v gnuplot >/dev/null; then
    [ "$(grep -c '<img alt=' "$dir/index.html")" -eq 3 ]
    for plot in ratio-tape time-tape memory-tape; do
        head -c 8 "$dir/$plot.png" | grep -q PNG
        grep -q '</svg>' "$dir/$plot.svg"
    done
    if command -v xmllint >/dev/null; then xmllint --noout "$dir"/*.svg; fi
else
    echo "page: no gnuplot here: plots not tested"
fi

# what is no file of results, or no directory, is refused, and nothing is written
mkdir "$dir/empty"
for bad in $data/bad_*.json; do
    ! "$B/bench/page" "$dir/empty" $data/old.json "$bad" 2>"$dir/said"
    grep -q "^page: $bad: " "$dir/said"
done
! "$B/bench/page" "$dir/none" $data/old.json 2>/dev/null
[ -z "$(ls "$dir/empty")" ]
