#!/usr/bin/env bash
# valgrind.sh LEAT_PUSH PROGRAMS [SCRIPT...]: runs interop scripts with leat-push under valgrind; a script fails if valgrind
# finds an error or a leak, as leat-push then ends with another code. The build must be without sanitizers and jemalloc.
set -euo pipefail
program=$1 programs=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/leat-push" <<TEXT
#!/bin/sh
exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$program" "\$@"
TEXT
chmod +x "$work/leat-push"

export CLIENTS=${CLIENTS:-50}
[ $# -gt 0 ] || set -- curl legacy_tcp clients bad_input slow_client stdin
for script in "$@"; do
    echo "== valgrind: $script"
    bash "$here/interop/test_$script.sh" "$work/leat-push" "$programs"
done
