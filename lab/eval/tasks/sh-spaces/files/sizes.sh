#!/usr/bin/env bash
set -euo pipefail
cd $1
for file in $(find . -type f | sed 's|^\./||' | sort); do
  echo "$(wc -c < $file) $file"
done
