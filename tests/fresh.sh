#!/usr/bin/env bash
# ./run demo and ./run test on a machine that has nothing: a Debian 12 minbase in a folder.
#   tests/fresh.sh FOLDER      as root; FOLDER/tree.tar is the tree to try. The bare system is kept in FOLDER as a
#                              tarball and downloaded packages beside it, so that the next call starts at once.
# Package sources and proxies are those of this machine, read from apt here and now.
set -euo pipefail
folder=$(realpath "$1")
suite=bookworm
machine=$folder/machine
bare=$folder/$suite-minbase.tar

# Mounts are made in a mount namespace of our own: however this ends, they end with it.
if [[ ${FRESH_NAMESPACE:-} != own ]]; then
  FRESH_NAMESPACE=own exec unshare --mount --propagation private "$0" "$@"
fi

say() { printf '\n== fresh: %s\n' "$*"; }

# deb lines of this machine's Debian sources for the suite, its updates and security.
# shellcheck disable=SC2016  # the fields are apt's, not the shell's
sources() {
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite=$suite '$1 == "Debian" && index($3, suite) == 1 { print "deb", $2, $3, $4 }' | sort -u
}

lines=$(sources)
if [[ -z $lines ]]; then # the lists may have been cleaned away
  apt-get -q update
  lines=$(sources)
fi
mirror=$(awk -v suite=$suite '$3 == suite && $4 == "main" { print $2; exit }' <<< "$lines")
[[ -n $mirror ]] || { echo "fresh: apt on this machine has no Debian $suite source to build a bare system from" >&2; exit 1; }
eval "$(apt-config shell proxy Acquire::http::Proxy)"
export http_proxy=${http_proxy:-${proxy:-}}
[[ -n $http_proxy ]] || unset http_proxy

if [[ ! -f $bare ]]; then
  say "making a bare Debian $suite"
  rm -rf --one-file-system "$machine"
  debootstrap --variant=minbase $suite "$machine" "$mirror"
  tar -C "$machine" --one-file-system -cf "$bare.part" .
  mv "$bare.part" "$bare"
fi

say 'unpacking the bare system and the tree'
rm -rf --one-file-system "$machine"
mkdir -p "$machine" "$folder/packages"
tar -C "$machine" -xf "$bare"
printf '%s\n' "$lines" > "$machine/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' > "$machine/etc/apt/apt.conf.d/90host" || true
cp -L /etc/resolv.conf /etc/hosts "$machine/etc/"
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
