#!/usr/bin/env bash
set -euo pipefail

log() { echo "[$(basename "$0")] $*" >&2; }
die() {
  log "error: $*"
  exit 1
}

[ $# -eq 0 ] || die "no arguments, please"
log "done"
