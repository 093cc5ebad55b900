#!/usr/bin/env bash
set -euo pipefail
python3 -W error -m unittest -q
