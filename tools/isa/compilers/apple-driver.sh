#!/usr/bin/env bash
# Installs Mesa's driver for Apple's GPUs (Honeykrisp) and its shim beside the arm64 tree of
# setup.sh. They come from Debian's backports, as the driver of Mesa 25.0 opens no device.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}
root=$dir/apple
[ -f "$root/.complete" ] && exit
rm -rf "$root"; mkdir -p "$root/debs"; cd "$root/debs"
apt() { "$here/debian-apt.sh" "$root/apt" 'trixie trixie-backports' arm64 "$@"; }
apt update
apt download mesa-vulkan-drivers/trixie-backports mesa-drm-shim/trixie-backports libdisplay-info2 libpng16-16t64 >/dev/null
for f in *.deb; do dpkg -x "$f" "$root"; done
rm -rf "$root/debs" "$root/apt"; touch "$root/.complete"
