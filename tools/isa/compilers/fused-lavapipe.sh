#!/usr/bin/env bash
# Builds Mesa's lavapipe with a fused fma, as GPUs have it, so that float products can run without a
# GPU. Two lines of Mesa are changed. Needs root and Debian 12; takes about 10 minutes. Prints the
# ICD file to set as VK_ICD_FILENAMES and VK_DRIVER_FILES, for `--adapter system` with a Vulkan
# loader (libvulkan1).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}/lavapipe
source=$("$here/mesa-source.sh")
apt-get install -y -qq llvm-15-dev glslang-tools libelf-dev libzstd-dev >/dev/null
export PATH=$source/../venv/bin:$PATH
mkdir -p "$dir"
[ -d "$dir/mesa" ] || cp -r "$source" "$dir/mesa"
cd "$dir/mesa"
sed -i 's/\.lower_ffma32 = true,/.lower_ffma32 = false,/' src/gallium/drivers/llvmpipe/lp_screen.c
sed -i 's/"llvm.fmuladd", type/"llvm.fma", type/' src/gallium/auxiliary/gallivm/lp_bld_arit.c
[ -f build/build.ninja ] || meson setup build -Dvulkan-drivers=swrast -Dgallium-drivers=llvmpipe -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dgles1=disabled -Dgles2=disabled -Dopengl=false \
  -Dllvm=enabled -Dshared-llvm=enabled -Dvideo-codecs= -Dgallium-vdpau=disabled -Dgallium-va=disabled -Dgallium-nine=false -Dxmlconfig=disabled -Dvalgrind=disabled -Dlibunwind=disabled -Dlmsensors=disabled \
  -Dbuild-tests=false -Dbuildtype=release -Db_ndebug=true -Dgallium-rusticl=false -Dzstd=enabled >../meson.log 2>&1
ninja -C build src/gallium/targets/lavapipe/libvulkan_lvp.so >../ninja.log 2>&1
printf '{"ICD":{"api_version":"1.4.305","library_path":"%s"},"file_format_version":"1.0.0"}\n' "$PWD/build/src/gallium/targets/lavapipe/libvulkan_lvp.so" >"$dir/icd.json"
echo "$dir/icd.json"
