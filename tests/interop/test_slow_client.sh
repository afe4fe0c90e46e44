# A client that never reads is closed after a while; one that reads gets everything.
. "$(dirname "$0")/lib.sh"
needs curl

has_greeting() { grep -q '^:ok' "$scratch/good"; }
lines=200000
start_server --source stdin --keep-alive 1s
at=${events#http://}
at=${at%/events}
curl -sN "$events" >"$scratch/good" &
"$programs/rude_client" "$at" never-read >"$scratch/slow" &
wait_for 10 has_greeting || give_up "no stream"
seq -f '%.0f the quick brown fox jumps over the lazy dog' $lines >&9
all_came() { [ "$(grep -c '^data: ' "$scratch/good")" -eq $lines ]; }
wait_for 60 all_came || give_up "lines are missing: $(tail -2 "$scratch/good")"
expect "the client that does not read" closed "$(cat "$scratch/slow")"
grep -q 'does not read' "$scratch/err" || give_up "nobody was closed"
stop_server
