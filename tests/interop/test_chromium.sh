# Chromium opens the page, whose EventSource reads the stream and shows the values.
. "$(dirname "$0")/lib.sh"
needs chromium

# Chromium's virtual time stands still while the stream is open: it prints the page when leat-push has ended.
start_server --for 10s --interval 50ms --window 50ms
timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage \
    --user-data-dir="$scratch/profile" --virtual-time-budget=2000 --dump-dom "$page" \
    >"$scratch/dom" 2>"$scratch/chromium"
await_server
grep -Eq 'after [1-9][0-9]* events' "$scratch/dom" ||
    give_up "the page saw no events: $(grep -A1 role= "$scratch/dom") $(tail -3 "$scratch/chromium")"
for name in 'cpu 0' 'load 0' 'memory available' 'push connections'; do
    grep -q "<td class=\"name\">$name</td>" "$scratch/dom" || give_up "the page does not show '$name'"
done
echo "fine: $(grep -o 'after [0-9]* events' "$scratch/dom")"
