set -euo pipefail
test "$(git status --porcelain)" = " M CHANGELOG.md"
entry="$(sed -n '/^## Unreleased/,/^## 1.2.0/p' CHANGELOG.md | grep '^- ')"
test "$(printf '%s\n' "$entry" | wc -l)" -eq 1
printf '%s' "$entry" | grep -q '`greet`'
printf '%s' "$entry" | grep -Eqi 'everybody|without a name|empty|no name'
sed -n '/^## 1.2.0/,$p' CHANGELOG.md | diff - <(printf '## 1.2.0\n- `greet` accepts a language.\n\n## 1.1.0\n- `greet` trims the name.\n')
