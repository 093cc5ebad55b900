set -euo pipefail
git diff --quiet HEAD -- build.sh
test "$(./deploy.sh)" = "$(printf 'building\ndeployed')"
grep -qx building build.log
code=0
output="$(BUILD_STATUS=7 ./deploy.sh 2>/dev/null)" || code=$?
test "$code" -eq 7
test "$output" = building
grep -qx building build.log
