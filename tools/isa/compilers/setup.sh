#!/usr/bin/env bash
# Installs the shader compilers of real GPUs on a Debian or Ubuntu machine (amd64) without a GPU:
# Mesa's Vulkan drivers on the fake devices of Mesa's DRM shims. They compile as for the real chip
# and report registers, spills and instructions; they execute nothing.
#
# Run it once as root: 5 to 15 minutes, about 2 GB in $GPU_COMPILERS_DIR (default
# ~/.cache/gpu-compilers). After an update of this project, run it again: 1 second.
#
#   amd64 tree: AMD (RADV), NVIDIA from Turing on (NVK), Intel (ANV)
#   nvidia tree: NVIDIA's own compiler (nvidia-setup.sh)
#   arm64 tree, under qemu: Qualcomm Adreno 6xx and 7xx (Turnip), ARM Mali (PanVK),
#     Apple M1 (Honeykrisp)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}
suite=trixie # Mesa 25.0
mirror=$("$here/debian-mirror.sh")
mkdir -p "$dir"

need=(); for pair in debootstrap:debootstrap spirv-as:spirv-tools qemu-aarch64-static:qemu-user-static aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu gcc:gcc; do
  command -v "${pair%%:*}" >/dev/null || need+=("${pair##*:}"); done
[ -f /usr/include/vulkan/vulkan.h ] || need+=(libvulkan-dev)
[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || need+=(debian-archive-keyring)
if [ ${#need[@]} -gt 0 ]; then apt-get update -qq; apt-get install -y -qq "${need[@]}" >/dev/null; fi

tree() { # tree ARCH: installs a minimal system with Mesa's Vulkan drivers and shims
  local arch=$1 root=$dir/$1 foreign=()
  [ -f "$root/.complete" ] && return
  rm -rf "$root"; [ "$arch" = amd64 ] || foreign=(--foreign)
  debootstrap "${foreign[@]}" --arch="$arch" --variant=minbase --include=libvulkan1,mesa-vulkan-drivers,mesa-drm-shim,libatomic1 "$suite" "$root" "$mirror" >"$dir/$arch.log" 2>&1 || { tail -3 "$dir/$arch.log" >&2; exit 1; }
  if [ "$arch" != amd64 ]; then for f in "$root"/var/cache/apt/archives/*.deb; do dpkg -x "$f" "$root"; done; fi
  rm -rf "$root"/var/cache/apt/archives/*.deb; touch "$root/.complete"
}
tree amd64
tree arm64
"$here/apple-driver.sh"
"$here/intel-shim.sh"
vkstats=vkstats-$(cksum <"$here/vkstats.c" | cut -d' ' -f1)
gcc -O1 -o "$dir/amd64/$vkstats" "$here/vkstats.c" "$dir"/amd64/usr/lib/x86_64-linux-gnu/libvulkan.so.1 -Wl,--allow-shlib-undefined
aarch64-linux-gnu-gcc -O1 -I/usr/include -o "$dir/arm64/$vkstats" "$here/vkstats.c" "$dir"/arm64/usr/lib/aarch64-linux-gnu/libvulkan.so.1 -Wl,--allow-shlib-undefined
"$here/nvidia-setup.sh"
echo "compilers are in $dir; try: npm --prefix tools/isa start -- --gpu navi31"
