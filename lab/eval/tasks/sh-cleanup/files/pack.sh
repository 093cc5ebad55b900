#!/usr/bin/env bash
set -euo pipefail
work="$(mktemp -d "${TMPDIR:-/tmp}/pack.XXXXXX")"
for file in "$@"; do
  cp -- "$file" "$work/"
done
tar -cf pack.tar -C "$work" .
rm -r "$work"
echo "packed $#"
