set -euo pipefail
git diff --quiet HEAD -- test_stats.py
python3 -m unittest -q
check_python <<'EOF'
from stats import median
assert median([4, 1, 2, 3]) == 2.5
assert median([2, 2]) == 2
assert median([0.5, 1]) == 0.75
EOF
