# Node's eventsource reads the stream: ids in order, several lines in one event.
. "$(dirname "$0")/lib.sh"
needs node
needs curl

node_has eventsource || skip "module eventsource for node, and npm does not bring it"

cat >"$scratch/client.js" <<'JS'
const exported = require("eventsource"), EventSource = exported.EventSource || exported;
const source = new EventSource(process.argv[2]), seen = [];
source.onopen = () => console.log("open");
source.onmessage = event => {
  seen.push(`${event.lastEventId}=${event.data.replace("\n", "|")}`);
  if (seen.length < 3) return;
  console.log(seen.join(" "));
  source.close();
};
JS
is_open() { grep -q open "$scratch/said"; }
start_server --source stdin --window 50ms --first-id 1
timeout 60 node "$scratch/client.js" "$events" >"$scratch/said" 2>&1 &
client=$!
wait_for 30 is_open || give_up "it does not open: $(cat "$scratch/said")"
for event in first $'second\nwith two lines' 'dritte, größer'; do
    curl -s -o /dev/null --data-binary "$event" "$events"
done
wait $client || give_up "node: $(cat "$scratch/said")"
expect "the events" "1=first 2=second|with two lines 3=dritte, größer" "$(tail -1 "$scratch/said")"
stop_server
