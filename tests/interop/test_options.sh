# Each mistake on the command line gets one line that says what and why, and exit code 2.
. "$(dirname "$0")/lib.sh"

refuses() {
    local said code pattern=$1
    shift
    said=$(timeout 20 "$program" --http 127.0.0.1:0 --tcp 127.0.0.1:0 "$@" 2>&1 >/dev/null)
    code=$?
    [ $code -eq 2 ] || give_up "$*: exit code $code"
    [ "$(wc -l <<<"$said")" -eq 1 ] || give_up "$*: more than a line: $said"
    grep -q -- "$pattern" <<<"$said" || give_up "$*: '$said' does not say '$pattern'"
    echo "fine: $said"
}

refuses 'unknown option: --colour' --colour
refuses '--window: wants a value' --window
refuses '--window: wants a time' --window 200
refuses '--window: wants a time' --window -5ms
refuses '--for: wants a time' --for 0s
refuses '--for: wants a time' --for 99999999h
refuses '--first-id: wants a number' --first-id 0
refuses '--first-id: wants a number' --first-id -1
refuses '--first-id: wants a number' --first-id 18446744073709551616
refuses 'wants vitals or stdin' --source nothing
refuses 'No such file' --token-file "$scratch/nothing"
: >"$scratch/empty"
refuses 'no token' --token-file "$scratch/empty"
refuses '--http' --http nonsense
refuses '--tcp' --tcp 127.0.0.1:99999
said=$(bash -c '"$0" --source stdin --http 127.0.0.1:0 --tcp 127.0.0.1:0 --for 5s <&- 2>&1' "$program")
expect "standard input that is closed" "leat-push: standard input: it is closed" "$said"

start_server
port=${tcp##*:}
refuses "127.0.0.1:$port.*in use" --tcp "127.0.0.1:$port"
stop_server
[ "$("$program" --version)" = "$("$program" --version | grep '^leat-push [0-9]')" ] || give_up "--version"
"$program" --help | grep -q -- --token-file || give_up "--help"
