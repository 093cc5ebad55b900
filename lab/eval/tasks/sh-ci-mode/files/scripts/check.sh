#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")/.."
for file in scripts/*.sh; do
  bash -n "$file"
done
echo checked
