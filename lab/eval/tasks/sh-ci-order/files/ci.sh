#!/usr/bin/env bash
set -euo pipefail
status=0
./test.sh || status=1
./generate.sh || status=1
exit "$status"
