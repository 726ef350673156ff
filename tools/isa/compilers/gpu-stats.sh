#!/usr/bin/env bash
# gpu-stats.sh GPU shader.spv [ENTRY]
#   Compiles one SPIR-V compute shader for a GPU that this machine does not have. Prints the
#   driver's statistics as one line of JSON.
# gpu-stats.sh GPU -- COMMAND…
#   Runs an amd64 command with the driver of that GPU (AMD, NVIDIA, Intel). Dispatches do nothing.
# GPU:
#   navi31 navi21 navi10 gfx1150 vangogh vega10 raven polaris10 (AMD) · turing ampere (NVIDIA)
#   tgl dg2 mtl (Intel) · adreno630 adreno660 adreno730 adreno740 adreno750 · malig610 malig52
#   m1 (Apple)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}
gpu=$1
vkstats=vkstats-$(cksum <"$here/vkstats.c" | cut -d' ' -f1)
[ -x "$dir/amd64/$vkstats" ] && [ -x "$dir/arm64/$vkstats" ] || { echo "run $here/setup.sh first" >&2; exit 2; }
ulimit -t "${GPU_COMPILERS_CPU_S:-240}" # some compilers need hours for some kernels
export MESA_SHADER_CACHE_DISABLE=true XDG_RUNTIME_DIR=/tmp
icd=usr/share/vulkan/icd.d

native() { # native SHIM ICD VARIABLE=value…: runs a program with the loader and libraries of the tree
  local lib=$dir/amd64/usr/lib/x86_64-linux-gnu
  [ "${args[0]}" = -- ] && args=("${args[@]:1}") || args=("$dir/amd64/$vkstats" "${args[@]}")
  exec env "${@:3}" VK_ICD_FILENAMES="$dir/amd64/$icd/$2" \
    "$lib/ld-linux-x86-64.so.2" --library-path "$lib:/usr/lib/x86_64-linux-gnu" --preload "$lib/$1" "${args[@]}"
}
emulated() { # emulated SHIM ICD VARIABLE=value…: runs vkstats of the arm64 tree under qemu
  local tree=$dir/arm64 lib=${driver:-$dir/arm64}/usr/lib/aarch64-linux-gnu
  env "${@:3}" VK_ICD_FILENAMES="${driver:-$tree}/$icd/$2" \
    qemu-aarch64-static -L "$tree" -E LD_LIBRARY_PATH="$lib" -E LD_PRELOAD="$lib/$1" "$tree/$vkstats" "${args[@]}"
}
mali() { # mali ID: the statistics are in one line of the driver's debug output
  local out db
  out=$(emulated libpanfrost_noop_drm_shim.so panfrost_icd.json PAN_GPU_ID="$1" PAN_I_WANT_A_BROKEN_VULKAN_DRIVER=1 BIFROST_MESA_DEBUG=shaderdb 2>&1) || { local code=$?; echo "$out" >&2; exit $code; }
  db=$(sed -n 's/^SHADER-DB: [A-Z_]* shader: //p' <<<"$out" | tail -1)
  [ -n "$db" ] || { echo "$out" >&2; exit 1; }
  sed -n "s/^{\(.*\)}$/{\1,\"shader-db\":\"$db\"}/p" <<<"$out"
}

args=("${@:2}")
case $gpu in
  navi*|gfx*|vangogh|vega*|raven|polaris*) native libamdgpu_noop_drm_shim.so radeon_icd.json AMDGPU_GPU_ID="$gpu" ;;
  turing) native libnouveau_noop_drm_shim.so nouveau_icd.json NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1 NOUVEAU_CHIPSET=0x164 ;;
  ampere) native libnouveau_noop_drm_shim.so nouveau_icd.json NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1 NOUVEAU_CHIPSET=0x172 ;;
  tgl|dg2|mtl) native libintel_noop_drm_shim.so intel_icd.json INTEL_STUB_GPU_PLATFORM="$gpu" ;;
  adreno*) emulated libfreedreno_noop_drm_shim.so freedreno_icd.json FD_GPU_ID="${gpu#adreno}" ;;
  m1) driver=$dir/apple emulated libasahi_noop_drm_shim.so asahi_icd.json ;;
  malig610) mali 0xa867 ;;
  malig52) mali 0x7212 ;;
  *) sed -n '/^# GPU:/,/^set/p' "$0" | grep '^#' >&2; exit 2 ;;
esac
