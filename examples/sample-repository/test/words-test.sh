#!/bin/sh
# Fails when the counts are not what they should be.
set -eu
cd "$(dirname "$0")/.."
expected="be 2
to 2
not 1
or 1"
found=$(echo "To be, or not to be" | sh words.sh)
if [ "$found" != "$expected" ]; then
  printf 'expected:\n%s\nfound:\n%s\n' "$expected" "$found"
  exit 1
fi
echo "ok"
