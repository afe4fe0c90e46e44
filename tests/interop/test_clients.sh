# Many clients get every event in order up to the end; nothing is dropped. CLIENTS=1000 SECONDS_LONG=60 for the long run.
. "$(dirname "$0")/lib.sh"

start_server --interval "${INTERVAL:-50ms}"
at=${events#http://}
"$programs/clients" "${at%/events}" --clients "${CLIENTS:-200}" --for "${SECONDS_LONG:-3}" --stop "$server" ||
    give_up "clients missed events"
await_server
expect "nothing was dropped or failed" 1 "$(grep -c 'dropped 0 (0 bytes) + failed 0 (0 bytes) + pending 0 (0 bytes)' "$scratch/out")"
