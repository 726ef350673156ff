#!/usr/bin/env bash
# Installs NVIDIA's own compilers, without a GPU or a driver: NVRTC, ptxas and nvdisasm from PyPI,
# and naga, which writes WGSL as Metal. It needs python3 with venv, unzip, gcc, and cargo unless
# naga is installed; 330 MB and two minutes. Run it again after an update of this project.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}/nvidia
cuda=13.5.37 naga=30.0.1
mkdir -p "$dir/bin" && cd "$dir"
if [ ! -f ".cuda-$cuda" ]; then
  rm -rf venv wheels cuda
  python3 -m venv venv
  # NVRTC makes PTX of CUDA C++, ptxas machine code of PTX, nvdisasm prints machine code
  venv/bin/pip -q download --no-deps -d wheels nvidia-cuda-nvrtc==$cuda nvidia-cuda-nvcc==$cuda nvidia-cuda-nvdisasm==$cuda
  for wheel in wheels/*.whl; do unzip -qo "$wheel" -d wheels; done
  mv wheels/nvidia/cu13 cuda
  chmod +x cuda/bin/*
  rm -rf venv wheels
  touch ".cuda-$cuda"
fi
if ! [ "$(bin/naga --version 2>/dev/null)" = $naga ]; then
  if [ "$(naga --version 2>/dev/null)" = $naga ]; then ln -sf "$(command -v naga)" bin/naga
  else cargo install --quiet --locked naga-cli --version $naga --root .; fi
fi
gcc -O1 -I cuda/include -o bin/nvrtc "$here/nvrtc.c" cuda/lib/libnvrtc.so.13 -Wl,-rpath,"$dir/cuda/lib"
touch .complete
echo "NVIDIA's compilers are in $dir; try: npm --prefix tools/isa start -- --gpu sm_86"
