#!/usr/bin/env bash
# Installs what the tests need from the system and npm cannot bring; running it again changes nothing.
#   bash scripts/install-test-tools.sh           installs what is missing (Debian and Ubuntu, as root or with sudo)
#   bash scripts/install-test-tools.sh --check   installs nothing, names what is missing, exits 1 if anything is
set -euo pipefail

python="${RUNYARD_PYTHON:-python3}"

# One line a tool: its name, its Debian packages, the command that succeeds where it is there.
tools=(
  "git|git|git --version"
  "bubblewrap|bubblewrap|bwrap --version"
  "ripgrep|ripgrep|rg --version"
  "chromium|chromium|test -x '${RUNYARD_CHROMIUM:-/usr/bin/chromium}'"
  "slirp4netns|slirp4netns|slirp4netns --version"
  "ip|iproute2|ip -V"
  "unshare and nsenter|util-linux|unshare --version && nsenter --version"
  "ps|procps|ps --version"
  "chromium|chromium|chromium --version"
  "openssl|openssl|openssl version"
  "python3 (3.10 or newer, with venv)|python3 python3-venv|$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'"
)

missing=()
packages=()
for tool in "${tools[@]}"; do
  IFS="|" read -r name debian probe <<<"$tool"
  if ! bash -c "$probe" >/dev/null 2>&1; then
    missing+=("$name")
    read -r -a more <<<"$debian"
    packages+=("${more[@]}")
  fi
done

if [ "${#missing[@]}" -eq 0 ]; then
  exit 0
fi
if [ "${1:-}" = "--check" ]; then
  printf '%s\n' "${missing[@]}"
  exit 1
fi
if ! command -v apt-get >/dev/null; then
  printf 'There is no apt-get here. Install by hand: %s\n' "${packages[*]}" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
