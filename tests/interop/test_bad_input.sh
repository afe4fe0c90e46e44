# Bad clients get a clear answer or a close and at most a line in the log; a good one next to them notices nothing.
. "$(dirname "$0")/lib.sh"
needs curl

has_greeting() { grep -q '^:ok' "$scratch/good"; }
rude() { "$programs/rude_client" "$1" "$2"; }

start_server --interval 20ms --window 20ms --keep-alive 2s
at=${events#http://}
at=${at%/events}
curl -sN "$events" >"$scratch/good" &
wait_for 10 has_greeting || give_up "no stream"

rude "$at" half >"$scratch/half" &
half=$!
"$programs/rude_client" "$at" never-read >/dev/null &
expect "garbage" "HTTP/1.1 400 Bad Request" "$(rude "$at" garbage)"
expect "a request line without an end" "HTTP/1.1 431 Request Header Fields Too Large" "$(rude "$at" long-line)"
expect "fields without an end" "HTTP/1.1 431 Request Header Fields Too Large" "$(rude "$at" long-fields)"
expect "a body that is too long" "HTTP/1.1 413 Content Too Large" "$(rude "$at" long-body)"
for _ in 1 2 3 4 5 6 7 8 9 10; do rude "$at" reset; done
expect "a frame that lies" "" "$(rude "$tcp" bad-frame)"
expect "a frame that is too long" "" "$(rude "$tcp" long-frame)"
wait $half
expect "half a request, then silence" "HTTP/1.1 408 Request Timeout" "$(cat "$scratch/half")"

stop_server
ids=$(sed -n 's/^id: //p' "$scratch/good")
expect "the good client got all in order" "$(seq "$(head -1 <<<"$ids")" "$(tail -1 <<<"$ids")" | cksum)" "$(cksum <<<"$ids")"
lines=$(wc -l <"$scratch/err")
[ "$lines" -ge 1 ] && [ "$lines" -le 3 ] || give_up "$lines lines in the log"
sed 's/^/  log: /' "$scratch/err"
