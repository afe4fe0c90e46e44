# The client of docs/examples follows event streams of Node's http server, and those of leat-push.
. "$(dirname "$0")/lib.sh"
needs node

client=$(dirname "$program")/../sse_client
node "$(dirname "$0")/node_events.js" >"$scratch/port" &
wait_for 20 test -s "$scratch/port" || give_up "node does not listen"
at=127.0.0.1:$(cat "$scratch/port")
for path in /chunked /length /close /gzip; do
    expect "the events of $path" $'one\nmore\nüber' "$(timeout 20 "$client" "$at" "$path")"
done
timeout 20 "$client" "$at" /none 2>"$scratch/refused" && give_up "what is no stream was followed"
grep -q '404 Not Found' "$scratch/refused" || give_up "why it is no stream: $(cat "$scratch/refused")"

start_server --source stdin --window 20ms
address=${page#http://}
timeout 60 "$client" "${address%/}" >"$scratch/followed" &
follower=$!
is_followed() {
    echo event >&9
    grep -q event "$scratch/followed"
}
wait_for 20 is_followed || give_up "nothing came from leat-push"
stop_server
wait $follower || give_up "the client did not end with the stream"
