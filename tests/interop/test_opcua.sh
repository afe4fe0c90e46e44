# node-opcua's codec against ours: what it writes we read and write again byte for byte, what we write it reads element by
# element, and it reads a frame of the example server. What of it is not installed, npm brings into the build folder.
. "$(dirname "$0")/lib.sh"
needs node
needs npm
packages="node-opcua-variant node-opcua-data-value node-opcua-binary-stream node-opcua-status-code"
node_has $packages || skip "node-opcua-variant for node, and npm does not bring it"
folder=$(dirname "$0")
codec=$programs/opcua_codec
example=$(dirname "$program")/../opcua

timeout 60 node "$folder/opcua_peer.js" recode "$codec" >"$scratch/said" 2>&1 || give_up "$(cat "$scratch/said")"
cat "$scratch/said"
timeout 60 node "$folder/opcua_peer.js" read "$codec" >"$scratch/said" 2>&1 || give_up "$(cat "$scratch/said")"
cat "$scratch/said"

"$example" 127.0.0.1:0 >"$scratch/listening" &
server=$!
is_listening() { grep -q 'listening on' "$scratch/listening"; }
wait_for 20 is_listening || give_up "the example does not start"
port=$(sed 's/.*://' "$scratch/listening")
timeout 60 node "$folder/opcua_peer.js" frame "$port" >"$scratch/said" 2>&1 || give_up "$(cat "$scratch/said")"
cat "$scratch/said"
kill -INT $server
wait $server || give_up "the example ended with code $?"
echo "fine: the example server"
