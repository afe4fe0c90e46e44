# curl listens and publishes; what must not publish is refused.
. "$(dirname "$0")/lib.sh"
needs curl

status() { curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$@"; }
has_line() { grep -q "$1" "$2"; }

start_server --source stdin --window 20ms
curl -sN -D "$scratch/head" "$events" >"$scratch/stream" &
wait_for 10 has_line '^:ok' "$scratch/stream" || give_up "no header and greeting at once"
grep -qi '^content-type: text/event-stream' "$scratch/head" || give_up "content type"

expect "publishing from this machine" 202 "$(status --data-binary 'hello world' "$events")"
expect "publishing two lines" 202 "$(status --data-binary $'one\ntwo' "$events")"
wait_for 10 has_line '^data: two' "$scratch/stream" || give_up "what was published did not come"
expect "the stream" $':ok\n\nid: 1\ndata: hello world\n\nid: 2\ndata: one\ndata: two' "$(cat "$scratch/stream")"

expect "our own page may publish" 202 "$(status --data-binary x -H "Origin: ${page%/}" "$events")"
expect "a foreign page may not" 403 "$(status --data-binary x -H 'Origin: http://example.org' "$events")"
expect "another port is foreign too" 403 "$(status --data-binary x -H 'Origin: http://127.0.0.1:1' "$events")"
expect "nor a page without an origin" 403 "$(status --data-binary x -H 'Origin: null' "$events")"
expect "a foreign host is refused" 403 "$(status --data-binary x -H 'Host: example.org' "$events")"
expect "no answer lets other pages read" "" "$(curl -s -D - -o /dev/null "$page" | grep -i '^access-control')"
expect "an empty event" 400 "$(status --data-binary '' "$events")"
expect "an unknown path" 404 "$(status "${page}nothing")"
expect "an unknown method" 405 "$(status -X DELETE "$events")"
expect "the page" 200 "$(status "$page")"
expect "the head of the stream" 200 "$(status -I "$events")"
expect "a slot without a group" 400 "$(status "$events?slot=1")"
stop_server
wait

echo secret-token >"$scratch/token"
start_server --source stdin --token-file "$scratch/token"
expect "no token" 401 "$(status --data-binary x "$events")"
expect "a wrong token" 401 "$(status --data-binary x -H 'Authorization: Bearer secret-tokem' "$events")"
expect "the token" 202 "$(status --data-binary x -H 'Authorization: Bearer secret-token' "$events")"
stop_server
