set -euo pipefail
git diff --quiet HEAD -- test_tools.py
python3 -m unittest -q
check_python <<'EOF'
import numbers_, texts, tools
assert tools.shorten is texts.shorten and tools.title_case is texts.title_case and tools.clamp is numbers_.clamp
assert texts.shorten.__module__ == "texts" and numbers_.clamp.__module__ == "numbers_"
assert texts.shorten.__doc__ and not hasattr(texts, "clamp")
EOF
if grep -q "^def" tools.py; then exit 1; fi
