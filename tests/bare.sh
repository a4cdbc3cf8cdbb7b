#!/usr/bin/env bash
# A bare Debian 12 (debootstrap minbase) in a folder, with the package sources and proxies of this machine, read from
# apt here and now.
#   tests/bare.sh FOLDER MACHINE   as root; unpacks the system into MACHINE, anew. It is kept in FOLDER as a tarball,
#                                  so that the next call starts at once.
set -euo pipefail
folder=$(realpath "$1")
machine=$2
suite=bookworm
bare=$folder/$suite-minbase.tar

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
[[ -n $mirror ]] || { echo "bare: apt on this machine has no Debian $suite source to build a bare system from" >&2; exit 1; }

rm -rf --one-file-system "$machine"
if [[ ! -f $bare ]]; then
  printf '\n== bare: making a bare Debian %s\n' "$suite"
  debootstrap --variant=minbase $suite "$machine" "$mirror"
  tar -C "$machine" --one-file-system -cf "$bare.part" .
  mv "$bare.part" "$bare"
else
  mkdir -p "$machine"
  tar -C "$machine" -xf "$bare"
fi
printf '%s\n' "$lines" > "$machine/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' > "$machine/etc/apt/apt.conf.d/90host" || true
cp -L /etc/resolv.conf /etc/hosts "$machine/etc/"
