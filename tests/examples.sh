#!/usr/bin/env bash
# examples.sh PROGRAM...: each is an echo server; it starts on a free port, echoes, and ends cleanly by Ctrl-C.
set -euo pipefail
set -m # or background jobs ignore SIGINT
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

# Waits for the line in which the program says where it listens.
port_of() {
    local line
    read -r line <"$1"
    [[ $line =~ (:|port\ )([0-9]+) ]] && echo "${BASH_REMATCH[2]}"
}

check() {
    local port answer
    mkfifo "$work/out"
    "$1" 127.0.0.1:0 >"$work/out" &
    port=$(port_of "$work/out")
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    echo "hello" >&3
    read -r answer <&3
    [ "$answer" = hello ]
    kill -INT $!
    wait $! # its exit code is ours
    exec 3>&-
    rm "$work/out"
    echo "$(basename "$1"): echoes, and ends"
}

for program in "$@"; do check "$program"; done
