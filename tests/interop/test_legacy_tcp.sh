# A legacy TCP client subscribes, gets frames of events, a heartbeat when it is quiet, and is closed when it is silent.
. "$(dirname "$0")/lib.sh"

start_server --source stdin --window 50ms
(
    sleep 1
    seq 5 >&9
) &
"$programs/legacy_client" "$tcp" 6 >"$scratch/said" || give_up "the client failed: $(cat "$scratch/said")"
expect "five events, then a heartbeat" $'1 1\n1 2\n1 3\n1 4\n1 5\n6 ' "$(cat "$scratch/said")"

# It subscribes and then says nothing: after 10 s it is closed, heartbeats or not.
begin=$SECONDS
"$programs/legacy_client" "$tcp" 1000 >"$scratch/silent" 2>&1
expect "a silent client is closed" 1 $?
[ $((SECONDS - begin)) -ge 9 ] || give_up "it was closed too early"
grep -q '^6 ' "$scratch/silent" || give_up "it got no heartbeats"
stop_server
