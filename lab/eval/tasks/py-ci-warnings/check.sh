set -euo pipefail
git diff --quiet HEAD -- test_words.py ci.sh
./ci.sh
grep -q "findall" words.py
check_python <<< 'import words'
