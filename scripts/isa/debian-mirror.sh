#!/usr/bin/env bash
# Prints the Debian mirror that this machine's apt has, or $DEBIAN_MIRROR.
set -euo pipefail
mirror=${DEBIAN_MIRROR:-$({ cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true; } | awk '/^URIs:/{print $2; exit} /^deb /{for(i=2;i<=NF;i++) if($i ~ /:\/\//){print $i; exit}}')}
case $mirror in
  '') mirror=http://deb.debian.org/debian ;;
  *ubuntu*) mirror=http://deb.debian.org/debian ;;
esac
echo "$mirror"
