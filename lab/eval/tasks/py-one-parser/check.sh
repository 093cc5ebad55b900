set -euo pipefail
check_python <<'EOF'
import ast
from records import parse_records, read_groups, read_users
assert read_users("# x\n\n a : b \n") == [{"name": "a", "mail": "b"}]
assert read_groups("g:o:3") == [{"name": "g", "owner": "o", "size": "3"}]
assert parse_records("1:2", ["x", "y"]) == [{"x": "1", "y": "2"}]
for call, message in ((lambda: read_users("a:b\na"), "line 2: expected name:mail"), (lambda: read_groups("a"), "line 1: expected name:owner:size")):
    try:
        call()
        raise SystemExit("no error")
    except ValueError as error:
        assert str(error) == message, error
tree = ast.parse(open("records.py").read())
assert sum(isinstance(node, ast.For) for node in ast.walk(tree)) == 1
EOF
