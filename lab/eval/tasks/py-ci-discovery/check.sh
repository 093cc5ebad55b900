set -euo pipefail
git diff --quiet HEAD -- tests
./ci.sh
PYTHONPATH=src python3 -m unittest discover -q -s tests
printf 'import unittest\n\n\nclass BrokenTest(unittest.TestCase):\n    def test_it(self):\n        self.fail("broken")\n' > tests/test_broken.py
if ./ci.sh > /dev/null 2>&1; then echo "the CI ignores a failing test"; exit 1; fi
