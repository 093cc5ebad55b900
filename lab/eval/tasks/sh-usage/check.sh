set -euo pipefail
expected="$(printf 'backup.sh SOURCE TARGET\n\nCopies a directory.\n  SOURCE  what to copy\n  TARGET  where to')"
test "$(./backup.sh --help)" = "$expected"
test "$(cd / && "$OLDPWD/backup.sh" --help)" = "$expected"
test "$(sed -n '/^```/,/^```/p' README.md | sed '1d;$d')" = "$expected"
grep -q "Backups are kept for ever." README.md
mkdir a && touch a/x && ./backup.sh a b && test -e b/x
