#!/usr/bin/env bash
# Builds Mesa's shim for Intel into the amd64 tree of setup.sh, in about two minutes. Debian's
# package has the driver for Intel and no shim.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}
shim=libintel_noop_drm_shim.so
[ -f "$dir/amd64/usr/lib/x86_64-linux-gnu/$shim" ] && exit
cd "$("$here/mesa-source.sh")"
export PATH=$PWD/../venv/bin:$PATH
# only one target of the tools is built; crocus is the driver with the fewest dependencies
[ -f shim/build.ninja ] || meson setup shim -Dtools=drm-shim,intel -Dvulkan-drivers= -Dgallium-drivers=crocus -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled \
  -Dgles1=disabled -Dgles2=disabled -Dopengl=true -Dllvm=disabled -Dvideo-codecs= -Dgallium-vdpau=disabled -Dgallium-va=disabled -Dgallium-nine=false -Dxmlconfig=disabled \
  -Dvalgrind=disabled -Dlibunwind=disabled -Dlmsensors=disabled -Dzstd=disabled -Dbuild-tests=false -Dbuildtype=release >shim.log 2>&1
ninja -C shim src/intel/tools/$shim >>shim.log 2>&1 || { tail -5 shim.log >&2; exit 1; }
cp shim/src/intel/tools/$shim "$dir/amd64/usr/lib/x86_64-linux-gnu/"
