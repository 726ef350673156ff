#!/usr/bin/env bash
# Prints $DEBIAN_MIRROR, or else the Debian mirror of this machine's apt.
set -euo pipefail
mirror=${DEBIAN_MIRROR:-$({ cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true; } | awk '/^URIs:/{print $2; exit} /^deb /{for(i=2;i<=NF;i++) if($i ~ /:\/\//){print $i; exit}}')}
case $mirror in
  '') mirror=http://deb.debian.org/debian ;;
  *ubuntu*) mirror=http://deb.debian.org/debian ;;
esac
echo "$mirror"
