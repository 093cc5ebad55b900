#!/usr/bin/env bash
set -euo pipefail
node main.ts
