# Netty at the other end of length-field, compressed and legacy TCP pipelines, both ways, 10,000 random frames each.
. "$(dirname "$0")/lib.sh"
needs javac
needs_file /usr/share/java/netty-codec.jar

jars=$(printf '/usr/share/java/netty-%s.jar:' buffer codec common handler resolver transport)
javac -cp "$jars" -d "$scratch" "$(dirname "$0")/NettyPeer.java" || give_up "it does not compile"
for kind in plain gzip zlib raw legacy; do
    converse $kind 10000 java -XX:TieredStopAtLevel=1 -cp "$jars$scratch" NettyPeer
done
