#!/usr/bin/env bash
# debian-apt.sh FOLDER 'SUITES' ARCHITECTURE ARGUMENTS…
# Runs apt-get on Debian's suites on any Debian or Ubuntu system. Its lists lie in FOLDER.
set -euo pipefail
folder=$1 suites=$2 arch=$3
mirror=$("$(dirname "$(readlink -f "$0")")/debian-mirror.sh")
mkdir -p "$folder/etc" "$folder/lists/partial" "$folder/cache/archives/partial"
touch "$folder/status"
printf 'Types: deb deb-src\nURIs: %s\nSuites: %s\nComponents: main\nArchitectures: %s\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' "$mirror" "$suites" "$arch" >"$folder/etc/debian.sources"
exec apt-get -qq -oDir::Etc::sourcelist=/dev/null -oDir::Etc::sourceparts="$folder/etc" -oDir::State::Lists="$folder/lists" -oDir::State::status="$folder/status" \
  -oDir::Cache="$folder/cache" -oAPT::Architecture="$arch" -oAPT::Architectures="$arch" -oAPT::Sandbox::User=root "${@:4}"
