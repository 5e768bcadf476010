#!/usr/bin/env bash
# Installs what test/e2e/ and test/faults/ run, from Debian's packages: rsyslog, logrotate, libfaketime, journalctl, PostgreSQL
# and chromium into the system. Those that would start a service there, or cannot be installed beside another, are unpacked into
# test/.shippers/ (only their libraries go into the system): syslog-ng, nginx, Caddy, and what makes files of a journal. Does nothing for what is there already. Needs root, or sudo
# that asks nothing, only if a package is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin

updated=
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@"
  else
    echo "install-shippers: to install packages, run this as root: $0" >&2
    return 1
  fi
}
# Tries with the package lists that are there, and once more with new ones.
with_lists() {
  "$@" && return
  [ -z "$updated" ] || return 1
  as_root apt-get update -q
  updated=yes
  "$@"
}
# Never takes a package away: a machine whose own logger conflicts keeps it, and this fails.
install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-remove "$@"
}
download() {
  (cd "$unpacked" && apt-get download -q -o APT::Sandbox::User=root "$@")
}

missing=()
command -v rsyslogd >/dev/null || missing+=(rsyslog)
command -v logrotate >/dev/null || missing+=(logrotate)
ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || missing+=(libfaketime)
command -v chromium >/dev/null || missing+=(chromium)
command -v journalctl >/dev/null || missing+=(systemd)
command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)
[ ${#missing[@]} = 0 ] || with_lists install "${missing[@]}"

packages=(nginx caddy systemd-journal-remote)
command -v syslog-ng >/dev/null || packages+=(syslog-ng-core)
mkdir -p .shippers/libraries
for package in "${packages[@]}"; do
  [ ! -e ".shippers/libraries/$package" ] || continue
  # Unpacked aside and moved at the end, so that a broken download is not taken for an installation.
  unpacked=$(mktemp -d "$PWD/.shippers/new.XXXXXX")
  trap 'rm -rf "$unpacked"' EXIT
  with_lists download "$package"
  mkdir "$unpacked/root"
  dpkg-deb -x "$unpacked"/*.deb "$unpacked/root"
  # Some still have their programs beside /usr.
  [ ! -d "$unpacked/root/lib" ] || cp -a "$unpacked/root/lib" "$unpacked/root/usr/"
  mkdir -p .shippers/usr
  cp -a "$unpacked/root/usr/." .shippers/usr/
  # "libc6 (>= 2.34), libsystemd0 | libelogind0, …": the first of each that is a library.
  dpkg-deb -f "$unpacked"/*.deb Depends | tr ',' '\n' | sed -n 's/^ *\(lib[^ |]*\).*/\1/p' >".shippers/libraries/$package"
  rm -rf "$unpacked"
done

missing=()
while read -r library; do
  dpkg-query -W -f '${db:Status-Status}\n' "$library" 2>/dev/null | grep -qx installed || missing+=("$library")
done < <(cat .shippers/libraries/* | sort -u)
[ ${#missing[@]} = 0 ] || with_lists install "${missing[@]}"
