#!/usr/bin/env bash
set -euo pipefail
# Renames all files in the current directory from one extension to another.
if [ $# -ne 2 ]; then
  echo "usage: rename.sh FROM TO" >&2
  exit 2
fi
for file in *."$1"; do
  [ -e "$file" ] || continue
  echo "$file -> ${file%."$1"}.$2"
  mv -- "$file" "${file%."$1"}.$2"
done
