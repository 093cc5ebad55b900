#!/usr/bin/env bash
echo building
exit "${BUILD_STATUS:-0}"
