# Standard input is read no faster than listeners follow: they get every line.
. "$(dirname "$0")/lib.sh"
needs curl

has_greeting() { grep -q '^:ok' "$scratch/a" && grep -q '^:ok' "$scratch/b"; }
lines=100000
start_server --source stdin
curl -sN "$events" >"$scratch/a" &
curl -sN "$events" >"$scratch/b" &
wait_for 10 has_greeting || give_up "no streams"
seq $lines >&9
all_came() { [ "$(grep -c '^data: ' "$scratch/$1")" -eq $lines ]; }
wait_for 60 all_came a && wait_for 60 all_came b || give_up "lines are missing: $(tail -2 "$scratch/a")"
stop_server
wait
expect "the lines" "$(seq $lines | cksum)" "$(sed -n 's/^data: //p' "$scratch/a" | cksum)"
expect "the same for the other" "$(seq $lines | cksum)" "$(sed -n 's/^data: //p' "$scratch/b" | cksum)"

# Short lines are mostly framing, and still none is dropped for a listener that is slower than the source.
start_server --source stdin
curl -sN --limit-rate 2M "$events" >"$scratch/slow" &
wait_for 10 grep -q '^:ok' "$scratch/slow" || give_up "no stream"
yes x | head -$lines >&9
wait_for 60 all_came slow || give_up "short lines are missing"
stop_server
wait
expect "no short line was dropped" 1 "$(grep -c 'dropped 0 (0 bytes)' "$scratch/out")"

# The end of input ends nothing but the input; a last line without its end is a line.
: >"$scratch/out"
printf 'one\ntwo' | "$program" --http 127.0.0.1:0 --tcp 127.0.0.1:0 --source stdin --for 1s >"$scratch/out" 2>"$scratch/err" &
server=$!
await_server
expect "the last line counts" 1 "$(grep -c 'offered 2 (6 bytes)' "$scratch/out")"
