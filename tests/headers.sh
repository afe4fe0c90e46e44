#!/usr/bin/env bash
# headers.sh INCLUDE: compiles every public header under INCLUDE alone, as strict C11 and as strict C++17.
set -euo pipefail
export include=$1
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
export c="${CC:-cc} -std=c11 $warnings -Wstrict-prototypes -x c"
export cxx="${CXX:-c++} -std=c++17 $warnings -x c++"

check() {
    printf '#include <leat/%s>\n' "$1" | $c -fsyntax-only -I "$include" -I "$include/leat" - &&
        printf '#include <leat/%s>\n' "$1" | $cxx -fsyntax-only -I "$include" -I "$include/leat" - ||
        { echo "$1 does not compile alone" && return 1; }
}
export -f check

headers=$(cd "$include/leat" && find -L . -name '*.h' ! -name '*_internal.h' ! -path ./core/leat.h | sed 's,^\./,,' | sort)
printf '%s\n' $headers | xargs -P 2 -I '{}' bash -c 'check {}'
echo "$(printf '%s\n' $headers | wc -l) headers compile alone as C11 and as C++17"
