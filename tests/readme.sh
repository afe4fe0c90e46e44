#!/usr/bin/env bash
# readme.sh SOURCE TEST_SHOUT: the README and the guide tell the truth. Every block of C in them stands in a file of
# docs/examples (which the tests build), the block of output is what the test of the new handler prints, and names exist.
set -euo pipefail
source=$1 test_shout=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Writes each fenced block of the language $1 in the document $2 into $work/$1.N
blocks() {
    awk -v language="$1" -v work="$work" '
        $0 == "```" language { inside = 1; file = work "/" language "." ++n; next }
        $0 == "```" { inside = 0 }
        inside { print > file }' "$2"
}

stands_in_an_example() {
    local file
    for file in $(find "$source/docs/examples" -name '*.[ch]'); do
        [[ $(cat "$file") != *"$(cat "$1")"* ]] || return 0
    done
    echo "this block stands in no file of docs/examples:" && cat "$1" && return 1
}

check_blocks_of() {
    local block
    rm -f "$work"/c.*
    blocks c "$1"
    for block in "$work"/c.*; do stands_in_an_example "$block"; done
}

# What the guide promises by example: a handler in 8 lines, a decoder in 30, each test in 12.
at_most() {
    local lines
    lines=$(wc -l <"$2")
    ((lines <= $1)) || { echo "the guide's $3 has $lines lines, not $1" && return 1; }
}

check_lengths_of_the_guide() {
    local block
    for block in "$work"/c.*; do
        case $(cat "$block") in
        START_TEST*) at_most 12 "$block" test ;;
        *leat_decoder_init*) at_most 30 "$block" decoder ;;
        *"const leat_handler"*) at_most 8 "$block" handler ;;
        esac
    done
}

check_blocks_of "$source/docs/guide.md"
check_lengths_of_the_guide
check_blocks_of "$source/docs/handlers.md"
twice=$(cat "$work"/c.* | grep -E '^(const|static) ' | sort | uniq -d)
[ -z "$twice" ] || { echo "docs/handlers.md shows this twice:" && echo "$twice" && exit 1; }
check_blocks_of "$source/README.md"
blocks text "$source/README.md"
# How many allocations there are to fail is the library's business.
"$test_shout" | diff <(sed 's/of [0-9]* alloc/of N alloc/' "$work/text.1") <(sed 's/of [0-9]* alloc/of N alloc/') ||
    { echo "the test of the new handler prints other than the README says" && exit 1; }

status=0
for name in $(cat "$source/README.md" "$source/docs/guide.md" "$source/docs/handlers.md" | grep -oE 'leat_[a-z0-9_]+' | sort -u); do
    grep -rqw "$name" "$source/core" "$source/handlers" "$source/transports" "$source/docs/examples" --include='*.h' --include='*.c' ||
        { echo "README, guide or catalogue: there is no $name" && status=1; }
done
# Tests that the design names exist, and vectors are as many as the catalogue says.
for name in $(grep -oE '`[a-z0-9]+(_[a-z0-9]+){4,}`' "$source/docs/design.md" | tr -d '`' | grep -v ^leat_ | sort -u); do
    grep -rqw "START_TEST($name)" "$source/tests" || { echo "docs/design.md: there is no test $name" && status=1; }
done
vectors=$(wc -l <"$source/tests/vectors/sse.jsonl")
grep -q "held against $vectors vectors" "$source/docs/handlers.md" ||
    { echo "docs/handlers.md: there are $vectors vectors of server-sent events" && status=1; }
# Every handler has an entry in the catalogue.
for name in $(grep -rhoE 'extern const leat_handler leat_[a-z0-9_]+' "$source/handlers" | sed 's/.* //' | sort -u); do
    grep -qw "$name" "$source/docs/handlers.md" || { echo "docs/handlers.md: there is no entry for $name" && status=1; }
done
exit $status
