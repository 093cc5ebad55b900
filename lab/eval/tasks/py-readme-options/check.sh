set -euo pipefail
test "$(git status --porcelain)" = " M README.md"
grep -q '^| `--output` | ' README.md
grep -q '^| `--level` | ' README.md
grep -q '^| `--exclude` | ' README.md
if grep -q -- --fast README.md; then exit 1; fi
grep -q "The archive has no owner." README.md
