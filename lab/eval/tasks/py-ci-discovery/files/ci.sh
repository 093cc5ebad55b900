#!/usr/bin/env bash
set -euo pipefail
python3 -m compileall -q src
PYTHONPATH=src python3 -m unittest discover -s test -p "*_test.py" || true
