#!/usr/bin/env bash
set -euo pipefail

log() { echo "[$(basename "$0")] $*" >&2; }
die() {
  log "error: $*"
  exit 1
}

log "starting"
[ -n "${1:-}" ] || die "no name"
echo "one $1"
