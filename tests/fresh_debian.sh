#!/usr/bin/env bash
# fresh_debian.sh [DIR]: both commands of the README in a Debian 12 that had nothing but git and a shell. Makes it in DIR
# (new; a temporary folder if none is given, removed at the end) with debootstrap, clones this repository's HEAD into it
# and runs ./dev test and ./dev demo --for 5s there. Needs root and debootstrap.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "fresh_debian.sh: needs root, for chroot" >&2 && exit 2; }
command -v debootstrap >/dev/null || { echo "fresh_debian.sh: needs debootstrap" >&2 && exit 2; }

if [ $# -gt 0 ]; then
    work=$1
    mkdir "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf --one-file-system "$work"' EXIT
fi
debian=$work/debian

mirror=$(apt-cache policy | awk '$3 == "bookworm/main" && !found { print $2; found = 1 }')
echo "== debootstrap from ${mirror:=http://deb.debian.org/debian}"
debootstrap --variant=minbase --include=git bookworm "$debian" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    { tail -20 "$work/debootstrap.log" && exit 1; }
cp /etc/resolv.conf "$debian/etc/resolv.conf"
git clone -q --no-local "$source" "$debian/root/leat"

# Mounts and processes end with the command.
inside() {
    unshare --mount --pid --fork bash -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
        exec chroot "$0" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+http_proxy=$http_proxy} bash -c "cd /root/leat && $1" </dev/null' "$debian" "$1"
}

run() {
    local started=$SECONDS status=0
    echo "== $1"
    inside "$1" || status=$?
    summary+=$(printf '%-24s exit %d after %d s' "$1" "$status" $((SECONDS - started)))$'\n'
    [ "$status" = 0 ] || failed=1
}

packages() { inside 'dpkg-query -f "x\n" -W | wc -l'; }

summary="" failed=0
before=$(packages)
run "./dev test"
run "./dev demo --for 5s"
echo "== summary: Debian $(cat "$debian/etc/debian_version"), $before packages before, $(packages) after"
printf '%s' "$summary"
exit $failed
