# Vital signs are JSON, and have what the machine tells.
. "$(dirname "$0")/lib.sh"
needs curl
needs node

has_three() { [ "$(grep -c '^data: ' "$scratch/stream")" -ge 3 ]; }
start_server --interval 20ms --window 20ms
curl -sN "$events" >"$scratch/stream" &
wait_for 10 has_three || give_up "no vital signs"
stop_server
sed -n 's/^data: //p' "$scratch/stream" | head -3 >"$scratch/signs"
cat >"$scratch/check.js" <<'JS'
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
for (const line of lines) {
  const signs = JSON.parse(line), {cpu, load, memory, network, push} = signs;
  const fine = Array.isArray(cpu) && cpu.every(share => share >= 0 && share <= 100) && load.length === 3 &&
    memory.total >= memory.available && network.received >= 0 && push.offered > 0;
  // What was queued when the client joined was made before it.
  const alone = line === lines[lines.length - 1] ? push.connections === 1 : push.connections <= 1;
  if (!fine || !alone || Math.abs(signs.time - Date.now() / 1000) > 60) throw new Error(line);
}
JS
node "$scratch/check.js" <"$scratch/signs" || give_up "$(cat "$scratch/signs")"
expect "three vital signs" 3 "$(wc -l <"$scratch/signs")"
