#!/usr/bin/env bash
./build.sh 2>&1 | tee build.log
if [ $? -ne 0 ]; then
  echo "the build failed" >&2
  exit 1
fi
echo deployed
