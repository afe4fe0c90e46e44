# A stream that ends after every three events: Chromium's and Node's EventSource come back with Last-Event-ID and get the
# next ones; eventsource-parser reads the bytes as they are.
. "$(dirname "$0")/lib.sh"
site=$programs/sse_site
[ -x "$site" ] || skip "$site"
tried=

is_listening() { grep -q '^page' "$scratch/site"; }

start_site() {
    "$site" >"$scratch/site" 2>&1 &
    server=$!
    wait_for 20 is_listening || give_up "sse_site does not start"
    page=$(awk '$1 == "page" { print $2 }' "$scratch/site")
}

end_site() {
    kill -INT "$server" 2>/dev/null
    wait "$server" || give_up "sse_site ended with code $?: $(cat "$scratch/site")"
    server=
}

nine() {
    local i
    for i in 1 2 3 4 5 6 7 8 9; do printf '%d=value %d|of änderung ' $i $i; done
}
expected=$(nine)
expected=${expected% }

with_chromium() {
    command -v chromium >/dev/null || return 0
    start_site
    timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage \
        --user-data-dir="$scratch/profile" --remote-debugging-port=0 "$page" >"$scratch/chromium" 2>&1 &
    local browser=$!
    wait_for 90 grep -q '^seen' "$scratch/site" || give_up "Chromium: $(cat "$scratch/site") $(tail -3 "$scratch/chromium")"
    kill "$browser" 2>/dev/null
    wait "$browser" 2>/dev/null
    expect "what Chromium saw" "seen $expected" "$(grep '^seen' "$scratch/site")"
    expect "how often Chromium came" "streams 3" "$(grep '^streams' "$scratch/site")"
    end_site
    tried+=" chromium"
}

# with_module NAME SCRIPT: runs it with the page's address, if node has the module or npm brings it.
with_module() {
    node_has "$1" || {
        [ "${LEAT_INTEROP:-}" != required ] || skip "module $1 for node"
        return 0
    }
    start_site
    timeout 60 node "$2" "$page" >"$scratch/said" 2>&1 || give_up "$1: $(cat "$scratch/said")"
    expect "what $1 saw" "$expected" "$(tail -1 "$scratch/said")"
    end_site
    tried+=" $1"
}

cat >"$scratch/eventsource.js" <<'JS'
const exported = require("eventsource"), EventSource = exported.EventSource || exported;
const source = new EventSource(process.argv[2] + "events"), seen = [];
source.addEventListener("tick", event => {
  seen.push(`${event.lastEventId}=${event.data.replace("\n", "|")}`);
  if (seen.length < 9) return;
  console.log(seen.join(" "));
  source.close();
});
JS

# Three streams, asked for by hand, in reads of one byte.
cat >"$scratch/parser.js" <<'JS'
const { createParser } = require("eventsource-parser"), http = require("http"), seen = [];
let retry = 0;
function stream(last) {
  const decoder = new TextDecoder();
  const note = event => event.type === "reconnect-interval" || seen.push(`${event.id}=${event.data.replace("\n", "|")}`);
  const options = { onEvent: note, onRetry: interval => (retry = interval) };
  let parser;
  try { parser = createParser(options); } catch { parser = createParser(note); }
  const headers = last ? { "Last-Event-ID": last } : {};
  http.get(process.argv[2] + "events", { headers }, response => {
    response.on("data", bytes => bytes.forEach(byte => parser.feed(decoder.decode(Buffer.from([byte]), { stream: true }))));
    response.on("end", () => {
      if (seen.length < 9) return stream(seen[seen.length - 1].split("=")[0]);
      if (retry && retry !== 20) throw new Error(`retry is ${retry}`);
      console.log(seen.join(" "));
    });
  });
}
stream();
JS

with_module eventsource "$scratch/eventsource.js"
with_module eventsource-parser "$scratch/parser.js"
with_chromium
[ -n "$tried" ] || skip "Chromium, nor node with eventsource or eventsource-parser"
echo "tried:$tried"
