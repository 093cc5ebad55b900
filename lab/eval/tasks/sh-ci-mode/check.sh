set -euo pipefail
git diff --quiet HEAD -- .github
test "$(./scripts/check.sh)" = checked
if grep -q $'\r' scripts/check.sh; then exit 1; fi
git add --all
git ls-files --stage scripts/check.sh | grep -q ^100755
