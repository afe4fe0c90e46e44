# Ctrl-C ends leat-push within the close timeout, whatever its clients do, and what was accepted is written before.
. "$(dirname "$0")/lib.sh"
needs curl

has_greeting() { grep -q '^:ok' "$scratch/good"; }
start_server --first-id 1 --interval 20ms --window 500ms --close-timeout 1s
at=${events#http://}
at=${at%/events}
"$programs/rude_client" "$at" never-read >/dev/null &
exec 8<>"/dev/tcp/${tcp%:*}/${tcp##*:}" # says nothing
exec 7<>"/dev/tcp/${at%:*}/${at##*:}" # neither does this
curl -sN "$events" >"$scratch/good" &
good=$!
wait_for 10 has_greeting || give_up "no stream"
sleep 0.3
kill -INT "$server"
begin=$SECONDS
wait $good || give_up "the good client's stream was torn"
await_server
[ $((SECONDS - begin)) -le 4 ] || give_up "it took $((SECONDS - begin)) s"
accepted=$(grep -o 'accepted [0-9]*' "$scratch/out" | head -1)
expect "the last event came" "id: ${accepted#accepted }" "$(grep '^id: ' "$scratch/good" | tail -1)"
