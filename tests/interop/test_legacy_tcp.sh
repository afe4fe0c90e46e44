# A legacy TCP client subscribes, gets frames of events, a heartbeat when it is quiet, and is closed when it is silent.
. "$(dirname "$0")/lib.sh"

start_server --source stdin --window 50ms
"$programs/legacy_client" "$tcp" 1000 >"$scratch/said" &
client=$!
wait_for 20 grep -q '^6 ' "$scratch/said" || give_up "no heartbeat"
seq 5 >&9
wait_for 20 grep -q '^1 5' "$scratch/said" || give_up "events are missing: $(cat "$scratch/said")"
kill $client
expect "the events" $'1 1\n1 2\n1 3\n1 4\n1 5' "$(grep '^1 ' "$scratch/said")"

# It subscribes and then says nothing: after 10 s it is closed, heartbeats or not.
begin=$SECONDS
"$programs/legacy_client" "$tcp" 1000 >"$scratch/silent" 2>&1
expect "a silent client is closed" 1 $?
[ $((SECONDS - begin)) -ge 9 ] || give_up "it was closed too early"
grep -q '^6 ' "$scratch/silent" || give_up "it got no heartbeats"
stop_server
