# curl listens and publishes; what must not publish is refused.
. "$(dirname "$0")/lib.sh"
needs curl

status() { curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$@"; }
has_line() { grep -q "$1" "$2"; }

start_server --source stdin --window 20ms --first-id 1
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

# Who takes gzip gets it, each event at once; who does not, does not.
curl -sN --compressed -D "$scratch/compressed_head" "$events" >"$scratch/plain" &
curl -sN -H 'Accept-Encoding: gzip' "$events" >"$scratch/gzip" &
wait_for 10 has_line '^:ok' "$scratch/plain" || give_up "no greeting at once in a compressed stream"
wait_for 10 test -s "$scratch/gzip" || give_up "no compressed stream"
grep -qi '^content-encoding: gzip' "$scratch/compressed_head" || give_up "content encoding"
grep -qi '^content-encoding' "$scratch/head" && give_up "an encoding that was not asked for"
for word in first second third; do
    expect "publishing $word" 202 "$(status --data-binary "$word" "$events")"
    wait_for 10 has_line "^data: $word" "$scratch/plain" || give_up "$word did not come at once"
done
expect "gzip that is refused" "" "$(curl -s -D - -o /dev/null --max-time 1 -H 'Accept-Encoding: gzip;q=0' "$events" | grep -i '^content-encoding')"
stop_server
wait
expect "the compressed stream, whole" "$(cat "$scratch/plain")" "$(gzip -dc "$scratch/gzip")"

echo secret-token >"$scratch/token"
start_server --source stdin --token-file "$scratch/token"
expect "no token" 401 "$(status --data-binary x "$events")"
expect "a wrong token" 401 "$(status --data-binary x -H 'Authorization: Bearer secret-tokem' "$events")"
expect "the token" 202 "$(status --data-binary x -H 'Authorization: Bearer secret-token' "$events")"
stop_server
