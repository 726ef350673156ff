#!/usr/bin/env bash
# Downloads the sources of the Mesa version in the trees of setup.sh, and prints their folder.
# Installs Meson in ../venv/bin. Needs root on Debian or Ubuntu.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${GPU_COMPILERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gpu-compilers}/mesa
mkdir -p "$dir"
cd "$dir"
if ! ls mesa_*.orig.tar.xz >/dev/null 2>&1; then
  apt() { "$here/debian-apt.sh" "$dir/apt" trixie amd64 "$@"; }
  apt update >&2
  apt source --download-only mesa >&2
fi
source=$(echo mesa_*.orig.tar.xz); source=${source%.orig.tar.xz}; source=${source/_/-}
[ -d "$source" ] || tar xf mesa_*.orig.tar.xz
need=(); for pair in bison:bison flex:flex ninja:ninja-build pkg-config:pkg-config g++:g++; do command -v "${pair%%:*}" >/dev/null || need+=("${pair##*:}"); done
apt-get install -y -qq libdrm-dev libexpat1-dev zlib1g-dev python3-venv "${need[@]}" >/dev/null
[ -x venv/bin/meson ] || { python3 -m venv venv; venv/bin/pip install -q 'meson>=1.4' mako pyyaml packaging >&2; }
echo "$dir/$source"
