set -euo pipefail
git diff --quiet HEAD -- test
script="$(node -p 'require("./package.json").scripts.test')"
PATH="$PATH" bash -c "$script" > /tmp/out
grep -q "pass 1" /tmp/out
grep -Eq "run: (npm test|npm run test|npm t)$" .github/workflows/ci.yml
if grep -q "npm run spec" .github/workflows/ci.yml; then exit 1; fi
printf 'import { test } from "node:test";\ntest("broken", () => { throw new Error("x"); });\n' > test/broken.test.js
if bash -c "$script" > /dev/null 2>&1; then echo "a new test is not executed"; exit 1; fi
