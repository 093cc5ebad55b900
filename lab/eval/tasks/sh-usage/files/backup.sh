#!/usr/bin/env bash
# backup.sh SOURCE TARGET
#
# Copies a directory.
#   SOURCE  what to copy
#   TARGET  where to

set -euo pipefail
# Not a part of the usage.
cp -r -- "$1" "$2"
