# SPDX-License-Identifier: MIT
# rooms - each room uses only rooms below it. The rooms are the list in doc/DESIGN.md, the topmost
# first (a block that begins with ```rooms); who uses whom is read off the archive, where no macro hides it.
#   a symbol or a header is not used upward; the same file name does not occur twice in the library;
#   objects that use each other in a circle are at most MOST;
#   what a header declares, an object of its own room defines;
#   every room has a README.md of 10 to 20 lines, and every file stands in a room.
# `sh rooms.sh --arcs` lists who uses whom, as `room/file -> room/file: symbol`.
set -eu
MOST=6
list=doc/DESIGN.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "rooms: $1" >&2; bad=1; }

# Floors, from the ground: NUMBER ROOM
awk '/^```/ { inside = $0 == "```rooms"; next } inside && NF { print $1 }' "$list" |
    awk '{ line[NR] = $1 } END { for (i = NR; i > 0; i--) print NR - i, line[i] }' >"$dir/floors"
[ -s "$dir/floors" ] || complain "$list has no list of rooms"

# Sources: FILE-WITHOUT-SUFFIX ROOM. The generators are programs, not the library.
find ops tape -name '*.c' ! -name 'generate*' | sed 's|^\(.*\)/\([^/]*\)\.c$|\2 \1|' | LC_ALL=C sort >"$dir/sources"
twice=$(cut -d' ' -f1 "$dir/sources" | uniq -d)
[ -z "$twice" ] || complain "two files of one name:" $twice
homeless=$(awk 'NR == FNR { room[$2]; next } !($2 in room) { print $2 "/" $1 ".c" }' "$dir/floors" "$dir/sources")
[ -z "$homeless" ] || complain "in no room of $list: $homeless"

# Arcs between objects: FROM TO SYMBOL
nm -A "$B/libwengert.a" 2>/dev/null | awk '
    { sub(/^[^:]*:/, ""); at = index($0, ":"); object = substr($0, 1, at - 3); $0 = substr($0, at + 1) }
    NF == 2 && ($1 == "U" || $1 == "w") { uses[++n] = object " " $2; next }
    NF == 3 && $2 ~ /^[TDRBCGSVWi]$/ { home[$3] = object; print $3, object >defined }
    END { for (i = 1; i <= n; i++) { split(uses[i], a, " ")
              if (a[2] in home && home[a[2]] != a[1]) print a[1], home[a[2]], a[2] } }
' defined="$dir/defined" | LC_ALL=C sort -u >"$dir/arcs"
[ -s "$dir/arcs" ] || complain "$B/libwengert.a has no symbols"

if [ "${1:-}" = --arcs ]; then
    awk 'FILENAME ~ /sources$/ { room[$1] = $2; next }
         { print room[$1] "/" $1 " -> " room[$2] "/" $2 ": " $3 }' "$dir/sources" "$dir/arcs"
    exit 0
fi

found=$(awk 'FILENAME ~ /floors$/ { floor[$2] = $1; next }
    FILENAME ~ /sources$/ { room[$1] = $2; next }
    floor[room[$1]] < floor[room[$2]] { print "  " room[$1] "/" $1 ".c uses " $3 " of " room[$2] "/" $2 ".c" }
    ' "$dir/floors" "$dir/sources" "$dir/arcs")
[ -z "$found" ] || complain "used upward:
$found"

# Headers of other rooms are included by their path, those of the same room without.
found=$(find ops tape -name '*.[ch]' ! -name 'generate*' | LC_ALL=C sort | xargs awk '
    FILENAME ~ /floors$/ { floor[$2] = $1; next }
    /^ *# *include *"/ {
        split($0, part, "\""); header = part[2]; if (header !~ /\//) next
        mine = FILENAME; sub(/\/[^\/]*$/, "", mine); other = header; sub(/\/[^\/]*$/, "", other)
        if (other == mine) print "  " FILENAME ": \"" header "\" stands in the same room"
        else if (!(other in floor)) print "  " FILENAME ": \"" header "\" stands in no room"
        else if (floor[mine] < floor[other]) print "  " FILENAME ": \"" header "\" is above it"
    }' "$dir/floors")
[ -z "$found" ] || complain "included:
$found"

# Declarations begin in the first column; their names are the last ones before a parenthesis.
found=$(find ops tape -name '*.h' | LC_ALL=C sort | xargs awk '
    FILENAME ~ /sources$/ { room[$1] = $2; next }
    FILENAME ~ /defined$/ { home[$1] = $2; next }
    /^[a-z].*\(/ && !/^(static|typedef|return|else|if|for|while|switch)/ {
        name = $0; sub(/\(.*/, "", name); sub(/^.*[ *]/, "", name)
        mine = FILENAME; sub(/\/[^\/]*$/, "", mine)
        if (name in home && room[home[name]] != mine)
            print "  " FILENAME " declares " name " of " room[home[name]] "/" home[name] ".c"
    }' "$dir/sources" "$dir/defined")
[ -z "$found" ] || complain "declared in another room than defined:
$found"

# Circles: objects that reach each other.
found=$(awk '
    { if (!($1 in id)) { id[$1] = ++n; name[n] = $1 } if (!($2 in id)) { id[$2] = ++n; name[n] = $2 }
      reach[id[$1], id[$2]] = 1 }
    END {
        for (k = 1; k <= n; k++) for (i = 1; i <= n; i++) if ((i, k) in reach)
            for (j = 1; j <= n; j++) if ((k, j) in reach) reach[i, j] = 1
        for (i = 1; i <= n; i++) if (!(i in done)) {
            circle = name[i]; size = 1
            for (j = i + 1; j <= n; j++) if ((i, j) in reach && (j, i) in reach) { circle = circle " " name[j]; size++; done[j] }
            if (size > most) print "  " size ": " circle
        }
    }' most=$MOST "$dir/arcs")
[ -z "$found" ] || complain "circles of more than $MOST objects:
$found"

for room in include adapters bench examples test $(cut -d' ' -f2 "$dir/floors"); do
    case $room in include/*) continue ;; esac
    if [ ! -f "$room/README.md" ]; then
        complain "$room has no README.md"
    else
        lines=$(wc -l <"$room/README.md")
        { [ "$lines" -ge 10 ] && [ "$lines" -le 20 ]; } || complain "$room/README.md has $lines lines: 10 to 20 are asked"
    fi
done
exit $bad
