set -euo pipefail
python3 -m unittest -q
check_python <<'EOF'
from slug import slugify
assert slugify("Crème brûlée") == "creme-brulee"
assert slugify("Straße") == "strasse"
assert slugify("  A -- B ") == "a-b"
assert slugify("日本") == ""
assert slugify("Ünïcode 2") == "unicode-2"
EOF
test "$(git diff HEAD --numstat -- test_slug.py | cut -f1)" -gt 0
