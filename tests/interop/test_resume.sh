# A client that comes back says what it saw last (Last-Event-ID) and gets what it missed, then what comes; it is told of
# what is kept no more.
. "$(dirname "$0")/lib.sh"
needs curl

publish() { curl -s -o /dev/null --max-time 10 --data-binary "$1" "$events"; }
has() { grep -q "^data: $1" "$scratch/$2"; }
body_of() { sed '1,2d' "$scratch/$1" | tr '\n' ' '; }

# come_back NAME ID: listens as one who saw that id.
come_back() { curl -sN --compressed -H "Last-Event-ID: $2" "$events$3" >"$scratch/$1" & }

start_server --source stdin --window 20ms --first-id 1000
for word in one two three; do publish $word; done
come_back first 999 ""
wait_for 10 has three first || give_up "nothing was replayed"
come_back second 1001 ""
come_back third 1002 ""
come_back stranger 17 ""
come_back future 5000 ""
come_back unknown abc ""
come_back shared 999 "?group=g"
for name in second stranger future; do wait_for 10 has three $name || give_up "nothing was replayed to $name"; done
for name in third unknown shared; do wait_for 10 grep -q '^:ok' "$scratch/$name" || give_up "$name is not there"; done
publish four
for name in first second third stranger future unknown shared; do
    wait_for 10 has four $name || give_up "$name did not go on"
done
stop_server
wait
all="id: 1000 data: one  id: 1001 data: two  id: 1002 data: three  "
expect "one who saw nothing of this run" "${all}id: 1003 data: four  " "$(body_of first)"
expect "one who missed an event" "id: 1002 data: three  id: 1003 data: four  " "$(body_of second)"
expect "one who missed nothing" "id: 1003 data: four  " "$(body_of third)"
expect "an id of an earlier run" "event: gap data: 17  ${all}id: 1003 data: four  " "$(body_of stranger)"
expect "an id that never was" "event: gap data: 5000  ${all}id: 1003 data: four  " "$(body_of future)"
expect "an id that is none of ours" "id: 1003 data: four  " "$(body_of unknown)"
expect "one who shares the stream" "id: 1003 data: four  " "$(body_of shared)"
