set -euo pipefail
test "$(python3 count.py sample.txt)" = "2 3 14"
python3 count.py --json sample.txt | python3 -c 'import json,sys; assert json.load(sys.stdin) == {"lines": 2, "words": 3, "bytes": 14}'
python3 count.py sample.txt --json > /dev/null
grep -q -- --json README.md
