#!/usr/bin/env bash
# Installs what the tests need from the system and npm cannot provide. Running it again changes nothing.
#   bash scripts/install-test-tools.sh           installs what is missing (Debian and Ubuntu, as root or with sudo)
#   bash scripts/install-test-tools.sh --check   installs nothing, names what is missing, exits 1 if anything is
#   bash scripts/install-test-tools.sh --help    shows these lines
set -euo pipefail

case "${1:-}" in
  "" | --check) ;;
  --help | -h) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  *) printf 'Unknown option %s. See: bash scripts/install-test-tools.sh --help\n' "$1" >&2; exit 2 ;;
esac

python="${RUNYARD_PYTHON:-python3}"

# One line a tool: its name, its Debian packages, the command that succeeds where it is installed, and what needs it.
tools=(
  "git|git|git --version|clones and sample repositories"
  "bubblewrap|bubblewrap|bwrap --version|the isolation of agents' commands"
  "ripgrep|ripgrep|rg --version|the agent's search tool"
  "chromium|chromium|'${RUNYARD_CHROMIUM:-/usr/bin/chromium}' --version|the tests of the web page"
  "slirp4netns|slirp4netns|slirp4netns --version|the network of isolated commands"
  "ip|iproute2|ip -V|the network of isolated commands"
  "skopeo|skopeo|skopeo --version|images of environments"
  "umoci|umoci|umoci --version|images of environments"
  "busybox|busybox-static|busybox --list|a small image"
  "musl|musl|ls /lib/ld-musl-*|a small image without glibc"
  "mmdebstrap|mmdebstrap|mmdebstrap --version|an image of Debian"
  "unshare and nsenter|util-linux|unshare --version && nsenter --version|the tests of the isolation"
  "mkfs.ext4|e2fsprogs|PATH=\$PATH:/usr/sbin:/sbin mkfs.ext4 -V|the file systems of executions"
  "ps|procps|ps --version|the tests of processes"
  "openssl|openssl|openssl version|certificates of test servers"
  "java (17 or newer)|default-jre-headless|v=\$(java -version 2>&1); v=\${v#*\\\"}; [ \"\${v%%[!0-9]*}\" -ge 17 ]|DynamoDB Local, on which the table's tests run"
  "mvn|maven|mvn --version|the download of DynamoDB Local"
  "go|golang-go|go version|the Runtime Interface Emulator of Lambda"
  "cmake|cmake|cmake --version|its client for Node"
  "g++ and make|g++ make|g++ --version && make --version|its client for Node"
  "xz|xz-utils|xz --version|its client for Node"
  "python3 (3.10 or newer, with venv)|python3 python3-venv|$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'|the Python client and the AWS emulator"
)

missing=()
packages=()
reasons=()
for tool in "${tools[@]}"; do
  IFS="|" read -r name debian probe reason <<<"$tool"
  if ! bash -c "$probe" >/dev/null 2>&1; then
    missing+=("$name")
    reasons+=("  $name: for $reason")
    read -r -a more <<<"$debian"
    packages+=("${more[@]}")
  fi
done

if [ "${#missing[@]}" -eq 0 ]; then
  [ "${1:-}" = "--check" ] || printf 'Everything that the tests need from the system is installed.\n'
  exit 0
fi
if [ "${1:-}" = "--check" ]; then
  printf '%s\n' "${missing[@]}"
  exit 1
fi
printf 'Missing, and installed now from the Debian packages %s:\n' "${packages[*]}"
printf '%s\n' "${reasons[@]}"
if ! command -v apt-get >/dev/null; then
  printf 'There is no apt-get on this system. Install these by hand: %s\n' "${packages[*]}" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    printf 'Root is needed, and sudo is not installed. Run as root:\n  apt-get update && apt-get install -y %s\n' "${packages[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
