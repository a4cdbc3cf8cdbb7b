#!/usr/bin/env bash
# The kernel and the root file system of the Soft-RoCE guests, made of Debian packages.
#   image.sh FOLDER      leaves FOLDER/vmlinux and FOLDER/initramfs.cpio; no root needed
# The kernel package is downloaded and unpacked, never installed: this machine's boot is not touched, and it needs no
# modules itself. Nothing is done when the inputs are those of the image that is there: the kernel package, the packages
# that the programs come from, this script and guest-init.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
mkdir -p "$1"
folder=$(realpath "$1")
meta=linux-image-6.12-amd64
programs=(ip rdma ibv_devinfo ibv_rc_pingpong
  ib_write_bw ib_write_lat ib_send_bw ib_send_lat ib_read_bw ib_read_lat ib_atomic_bw ib_atomic_lat
  rping ucmatose udaddy cmtime)
# crc32_generic: rxe asks the crypto API for "crc32". Without its PCLMUL sister, which an emulated CPU is slow at.
modules=(virtio_pci virtio_net crc32_generic rdma_rxe ib_umad rdma_ucm)
origin=(busybox-static dash iproute2 perftest ibverbs-utils ibverbs-providers libibverbs1 librdmacm1 rdmacm-utils libc6)

exec 9> "$folder/lock" # two labs may ask at once
flock 9

# The newest kernel that apt knows; without package lists the one that the image was made with.
package=$(apt-cache depends "$meta" 2> /dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
[[ -n $package ]] || package=$(sed -n 's/^kernel //p' "$folder/inputs" 2> /dev/null || true)
[[ -n $package ]] || { echo "image: apt knows no $meta; run apt-get update" >&2; exit 1; }
version=${package#linux-image-}
inputs=$(echo "kernel $package"
  dpkg-query -W -f='${Package} ${Version}\n' "${origin[@]}" 2> /dev/null | sort || true
  cat "$here/image.sh" "$here/guest-init" | sha256sum)
if [[ -f $folder/vmlinux && -f $folder/initramfs.cpio && $inputs == "$(cat "$folder/inputs" 2> /dev/null)" ]]; then
  exit 0
fi
echo "image: making the guests' image with $package in $folder"
rm -f "$folder/inputs"

work=$(mktemp -d "$folder/work-XXXXXX")
trap 'rm -rf "$work"' EXIT
kernel=$folder/kernel/$package
if [[ ! -f $kernel/complete ]]; then
  rm -rf "$folder/kernel"
  mkdir -p "$kernel"
  (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package")
  dpkg --fsys-tarfile "$work/$package"_*.deb | tar -x -C "$kernel" ./boot ./lib/modules
  depmod -b "$kernel" "$version"
  touch "$kernel/complete"
fi

# An uncompressed kernel is entered by its PVH note at once; unpacking it inside the guest would cost a second.
python3 -B "$here/unpack_kernel.py" "$kernel/boot/vmlinuz-$version" "$folder/vmlinux"

root=$work/root
libraries=usr/lib/x86_64-linux-gnu
mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,lib,lib64,etc,proc,sys,dev,tmp,run,root,mod,var/run}
mkdir -p "$root/$libraries/libibverbs"
cp /bin/busybox /bin/dash "$root/bin/"
# dash is sh: the shell of busybox would run its own `ip` in place of the real one. busybox lists itself too, and a link
# of that name over the program makes an image without a shell.
for name in $(/bin/busybox --list); do
  [[ $name == busybox || $name == sh || $name == dash ]] || ln -s busybox "$root/bin/$name"
done
ln -s dash "$root/bin/sh"
files=(/bin/dash)
for name in "${programs[@]}"; do
  file=$(command -v "$name") || { echo "image: $name is not installed (packages.txt)" >&2; exit 1; }
  file=$(readlink -f "$file")
  cp "$file" "$root/usr/bin/$name"
  files+=("$file")
done
provider=$(find "/$libraries/libibverbs" -name 'librxe-rdmav*.so')
cp "$provider" "$root/$libraries/libibverbs/"
mkdir -p "$root/etc/libibverbs.d"
cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done < <({ ldd "${files[@]}" "$provider" | grep -oE '/[^ ]+\.so[^ ]*' | grep -v libibverbs/librxe
  echo /lib/x86_64-linux-gnu/libgcc_s.so.1; } | sort -u)

# Modules in the order of loading.
: > "$root/mod/order"
for module in "${modules[@]}"; do
  while read -r word path; do
    name=$(basename "${path%.xz}")
    [[ $word == insmod && ! -e $root/mod/$name ]] || continue
    if [[ $path == *.xz ]]; then xz -dc "$path" > "$root/mod/$name"; else cp "$path" "$root/mod/$name"; fi
    echo "$name" >> "$root/mod/order"
  done < <(modprobe -d "$kernel" -S "$version" --show-depends "$module")
done

echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
echo '127.0.0.1 localhost' > "$root/etc/hosts"
printf 'hosts: files\nservices: files\n' > "$root/etc/nsswitch.conf"
cp "$here/guest-init" "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . -print0 | cpio -0 -o -H newc --quiet) > "$folder/initramfs.cpio"
echo "$inputs" > "$folder/inputs"
