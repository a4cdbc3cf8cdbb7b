#!/usr/bin/env bash
# The guests' image with programs of this tree, and a key that both guests have.
#   overlay.sh IMAGE FOLDER PROGRAM...    leaves FOLDER/vmlinux and FOLDER/initramfs.cpio
# The kernel unpacks archives that follow one another into one file system.
set -euo pipefail
image=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
root=$(mktemp -d "$folder/root-XXXXXX")
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/usr/bin" "$root/etc"
cp "$@" "$root/usr/bin/"
while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done < <(ldd "$@" | grep -oE '/[^ ]+\.so[^ ]*' | sort -u)
(umask 077 && echo "lab $(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')" > "$root/etc/matchrdma-key")
ln -sf "$image/vmlinux" "$folder/vmlinux"
cp "$image/initramfs.cpio" "$folder/initramfs.cpio"
(cd "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) >> "$folder/initramfs.cpio"
