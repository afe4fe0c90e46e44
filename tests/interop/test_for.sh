# --for ends by itself; what was accepted is still delivered within the close timeout.
. "$(dirname "$0")/lib.sh"
needs curl

start_server --first-id 1 --for 1s --window 300ms --interval 50ms
curl -sN "$events" >"$scratch/stream" || give_up "the stream was torn"
await_server
last=$(grep '^id: ' "$scratch/stream" | tail -1)
accepted=$(grep -o 'accepted [0-9]*' "$scratch/out" | head -1)
expect "the last event" "id: ${accepted#accepted }" "$last"
expect "nothing was dropped" 1 "$(grep -c 'dropped 0 (0 bytes)' "$scratch/out")"
