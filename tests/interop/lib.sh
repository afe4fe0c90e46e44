# For the scripts of this folder: starts leat-push on free ports, stops it, and says what is wrong.
set -u
program=$1
programs=$2
scratch=$(mktemp -d)
server=

give_up() {
    echo "FAILED: $*"
    [ -f "$scratch/out" ] && sed 's/^/  says: /' "$scratch/out" "$scratch/err"
    exit 1
}

end() {
    local running
    running=$(jobs -p)
    [ -z "$running" ] || kill -KILL $running 2>/dev/null
    rm -rf "$scratch"
}
trap end EXIT

# skip WHAT: there is no WHAT; where every test must run (LEAT_INTEROP=required) that is a failure.
skip() {
    [ "${LEAT_INTEROP:-}" != required ] || give_up "there is no $1"
    echo "skipped: there is no $1"
    exit 77
}

needs() { command -v "$1" >/dev/null || skip "$1"; }

needs_file() { [ -e "$1" ] || skip "$1"; }

# node_has MODULE...: node has them, or npm brings them: into a folder of this test's own, since tests run side by side, and
# in three tries, since a registry may fail. npm trusts whom the system trusts.
node_has() {
    local folder tries=3 trusted=/etc/ssl/certs/ca-certificates.crt
    folder=$programs/npm/$(basename "$0" .sh)
    command -v node >/dev/null || return 1
    [ -n "${NODE_EXTRA_CA_CERTS:-}" ] || [ ! -r "$trusted" ] || export NODE_EXTRA_CA_CERTS=$trusted
    export NODE_PATH=${NODE_PATH:-/usr/share/nodejs:$folder/node_modules}
    until node -e 'process.argv.slice(1).forEach(name => require(name))' "$@" 2>/dev/null; do
        ((tries-- > 0)) || return 1
        timeout 40 npm install --silent --no-audit --no-fund --prefix "$folder" "$@" >/dev/null 2>&1
    done
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local rounds=$(($1 * 20))
    shift
    until "$@"; do
        rounds=$((rounds - 1))
        [ $rounds -gt 0 ] || return 1
        sleep 0.05
    done
}

is_up() { grep -q '  tcp' "$scratch/out"; }

# start_server OPTION...: sets $server, $page, $events, $tcp. What is written to descriptor 9 is its standard input,
# which never ends.
start_server() {
    : >"$scratch/out"
    rm -f "$scratch/input"
    mkfifo "$scratch/input"
    exec 9<>"$scratch/input"
    "$program" --http 127.0.0.1:0 --tcp 127.0.0.1:0 "$@" >"$scratch/out" 2>"$scratch/err" <"$scratch/input" 9>&- &
    server=$!
    wait_for 20 is_up || give_up "leat-push does not start"
    page=$(awk '$1 == "page" { print $2 }' "$scratch/out")
    events=$(awk '$1 == "events" { print $2 }' "$scratch/out")
    tcp=$(awk '$1 == "tcp" { print $2 }' "$scratch/out")
}

# stop_server: as Ctrl-C does; it must end with code 0 and exact ledgers.
stop_server() {
    kill -INT "$server"
    await_server
}

await_server() {
    wait "$server"
    local code=$?
    server=
    [ $code -eq 0 ] || give_up "leat-push ended with code $code"
    grep -q 'ledgers: exact' "$scratch/out" || give_up "the ledgers are not exact"
    sed 's/^/  /' "$scratch/out"
}

# expect WHAT EXPECTED ACTUAL
expect() {
    [ "$2" = "$3" ] || give_up "$1: expected '$2', got '$3'"
    echo "fine: $1"
}

# converse KIND COUNT PEER...: frames_peer talks to the program PEER, which gets the port, KIND, COUNT and the seed.
converse() {
    local kind=$1 count=$2 seed=$((RANDOM * RANDOM + 1)) talker
    shift 2
    echo "$kind with seed $seed"
    rm -f "$scratch/out"
    "$programs/frames_peer" "$kind" "$count" "$seed" >"$scratch/out" 2>"$scratch/err" &
    talker=$!
    wait_for 20 test -s "$scratch/out" || give_up "frames_peer does not start"
    "$@" "$(head -1 "$scratch/out")" "$kind" "$count" "$seed" || give_up "the other end of $kind, seed $seed"
    wait $talker || give_up "our end of $kind, seed $seed"
    sed '1d; s/^/  /' "$scratch/out"
}
