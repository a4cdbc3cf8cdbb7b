#!/usr/bin/env bash
# ./run demo and ./run test on a machine that has nothing: a Debian 12 minbase in a folder.
#   tests/fresh.sh FOLDER      as root; FOLDER/tree.tar is the tree to try. The bare system is kept in FOLDER as a
#                              tarball and downloaded packages beside it, so that the next call starts at once.
set -euo pipefail
folder=$(realpath "$1")
machine=$folder/machine

# Mounts are made in a mount namespace of our own: however this ends, they end with it.
if [[ ${FRESH_NAMESPACE:-} != own ]]; then
  FRESH_NAMESPACE=own exec unshare --mount --propagation private "$0" "$@"
fi

say() { printf '\n== fresh: %s\n' "$*"; }

eval "$(apt-config shell proxy Acquire::http::Proxy)"
export http_proxy=${http_proxy:-${proxy:-}}
[[ -n $http_proxy ]] || unset http_proxy

say 'unpacking the bare system and the tree'
mkdir -p "$folder/packages"
tests/bare.sh "$folder" "$machine"
mkdir "$machine/matchrdma"
tar -C "$machine/matchrdma" -xf "$folder/tree.tar"
mount -t proc proc "$machine/proc"
mount --bind "$folder/packages" "$machine/var/cache/apt/archives"
mkdir -p "$folder/packages/partial"

inside() {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    ${http_proxy:+http_proxy="$http_proxy"} chroot "$machine" /bin/bash -c "cd /matchrdma && $1"
}

say './run demo'
inside './run demo'
say './run test'
inside './run test'
say './run demo again: nothing to install, nothing to build'
inside './run demo' | tee "$folder/second-demo.txt"
if grep -q '^== installing' "$folder/second-demo.txt" || ! grep -q 'no work to do' "$folder/second-demo.txt"; then
  echo 'fresh: the second ./run demo installed or built something' >&2
  exit 1
fi
say 'demo and test pass on a bare Debian 12'
