#!/usr/bin/env bash
# bits.sh SOURCE: each flag of a channel and of a context, and each kind of work, is one bit that no other has.
set -euo pipefail
status=0
for prefix in CHANNEL CTX WORK; do
    values=$(grep -oE "^ +${prefix}_[A-Z_]+ = [0-9]+" "$1/core/channel_internal.h" | awk '{print $3}')
    for value in $values; do
        (((value & (value - 1)) == 0)) || { echo "${prefix}_…: $value is more than one bit" && status=1; }
    done
    twice=$(sort <<<"$values" | uniq -d)
    [[ -z $twice ]] || { echo "${prefix}_…: two flags are $twice" && status=1; }
done
exit $status
