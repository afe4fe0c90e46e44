#!/usr/bin/env bash
# probes.sh SOURCE: static probes stand where the guide says, and leave nothing behind where <sys/sdt.h> is missing.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# Without the header: no system folder is searched, so there is none to find.
printf '#include "core/probe_internal.h"\nBEGIN LEAT_PROBE(turn, channel, 1); END\n' |
    ${CC:-cc} -std=c11 -nostdinc -E -P -I "$source" - | grep -qx 'BEGIN ((void)0); END' ||
    { echo "a probe leaves something behind without <sys/sdt.h>" && status=1; }

# With one: each probe that the guide names is in the sources, and no other.
mkdir "$work/sys"
echo '#define DTRACE_PROBE2(provider, name, object, value) probe_of(provider, name)' >"$work/sys/sdt.h"
probed=$(grep -l 'LEAT_PROBE(' "$source"/core/*.c "$source"/handlers/*.c "$source"/transports/*.c)
for file in $probed; do
    ${CC:-cc} -std=gnu11 -E -P -isystem "$work" -I "$source" "$file"
done | grep -o 'probe_of([a-z_, ]*)' | sed 's/probe_of(leat, //; s/)//' | sort -u >"$work/found"
sed -n 's/^| `leat:\([a-z_]*\)` .*/\1/p' "$source/docs/guide.md" | sort -u >"$work/told"
[[ -s $work/told ]] || { echo "the guide names no probe" && status=1; }
diff "$work/told" "$work/found" || { echo "the guide (<) and the sources (>) name different probes" && status=1; }

# The real header passes nothing to variadic macros, which clang minds at the place of use.
printf '#define NOTHING(x, ...) ((void)sizeof(x))\n#define DTRACE_PROBE2(p, n, o, v) NOTHING(o)\n' >"$work/sys/sdt.h"
for compiler in "${CC:-cc}" $(command -v clang || true); do
    for file in $probed; do
        "$compiler" -std=gnu11 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -isystem "$work" -I "$source" "$file" ||
            { echo "$file does not compile with $compiler and <sys/sdt.h>" && status=1; }
    done
done
exit $status
