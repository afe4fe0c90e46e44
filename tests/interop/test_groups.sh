# Clients of a group share the stream; the same slot of a group replaces and closes the one before.
. "$(dirname "$0")/lib.sh"
needs curl

listen() { # NAME QUERY
    curl -sN "$events?$2" >"$scratch/$1" &
    wait_for 10 grep -q '^:ok' "$scratch/$1" || give_up "no stream for $1"
}
lines_of() { sed -n 's/^data: //p' "$scratch/$1" | tr '\n' ' '; }
have_all() { [ "$(cat "$scratch/a" "$scratch/b" | grep -c '^data: ')" -eq "$1" ]; }

start_server --source stdin --window 20ms
listen a 'group=g&slot=1'
old=$!
listen b 'group=g&slot=2'
listen all ''
seq 4 >&9
wait_for 10 have_all 4 || give_up "events are missing"
listen new 'group=g&slot=1'
wait $old || give_up "the old connection was not closed in order"
seq 5 8 >&9
wait_for 10 grep -q 'data: 8' "$scratch/all" || give_up "events are missing"
stop_server
wait
expect "the one without a group" "1 2 3 4 5 6 7 8 " "$(lines_of all)"
expect "the first of the group" "1 3 " "$(lines_of a)"
expect "the group together" "$(seq 8 | cksum)" "$(cat "$scratch/a" "$scratch/b" "$scratch/new" | sed -n 's/^data: //p' | sort | cksum)"
