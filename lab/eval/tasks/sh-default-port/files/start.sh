#!/usr/bin/env bash
set -euo pipefail
port=8080
echo "http://127.0.0.1:$port"
