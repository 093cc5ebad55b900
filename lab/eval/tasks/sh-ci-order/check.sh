set -euo pipefail
git diff --quiet HEAD -- test.sh generate.sh
./ci.sh | grep -qx passed
test -z "$(git status --porcelain | grep -v -e ' ci.sh$' -e ' .gitignore$')"
echo 'echo 41 > generated/answer' >> generate.sh
if ./ci.sh > /dev/null 2>&1; then echo "a failing test passes"; exit 1; fi
