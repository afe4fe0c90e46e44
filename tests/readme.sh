#!/usr/bin/env bash
# readme.sh SOURCE TEST_SHOUT: the README tells the truth. Every block of C in it stands in a file of docs/examples (which the
# tests build), its block of output is what the test of the new handler prints, and the names of its table exist.
set -euo pipefail
source=$1 test_shout=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Writes each fenced block of the language $1 into $work/$1.N
blocks() {
    awk -v language="$1" -v work="$work" '
        $0 == "```" language { inside = 1; file = work "/" language "." ++n; next }
        $0 == "```" { inside = 0 }
        inside { print > file }' "$source/README.md"
}

stands_in_an_example() {
    local file
    for file in $(find "$source/docs/examples" -name '*.[ch]'); do
        [[ $(cat "$file") != *"$(cat "$1")"* ]] || return 0
    done
    echo "this block of the README stands in no file of docs/examples:" && cat "$1" && return 1
}

blocks c
blocks text
for block in "$work"/c.*; do stands_in_an_example "$block"; done
# How many allocations there are to fail is the library's business.
"$test_shout" | diff <(sed 's/of [0-9]* alloc/of N alloc/' "$work/text.1") <(sed 's/of [0-9]* alloc/of N alloc/') ||
    { echo "the test of the new handler prints other than the README says" && exit 1; }

status=0
for name in $(grep -oE 'leat_[a-z0-9_]+' "$source/README.md" | sort -u); do
    grep -rqw "$name" "$source/core" "$source/handlers" "$source/transports" "$source/docs/examples" --include='*.h' --include='*.c' ||
        { echo "README: there is no $name" && status=1; }
done
exit $status
