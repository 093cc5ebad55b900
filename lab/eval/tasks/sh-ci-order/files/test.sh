#!/usr/bin/env bash
set -euo pipefail
test "$(cat generated/answer)" -eq 42
echo passed
