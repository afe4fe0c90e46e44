# Node's zlib at the other end of compressed streams, both ways, each with 10,000 random frames in it.
. "$(dirname "$0")/lib.sh"
needs node

for kind in gzip zlib raw; do
    converse $kind 10000 node "$(dirname "$0")/node_peer.js"
done
