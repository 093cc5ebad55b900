set -euo pipefail
python3 -m unittest -q
check_python <<'EOF'
from rows import read_rows
assert read_rows('a,"b,c"\n') == [["a", "b,c"]]
assert read_rows('"say ""hi""",x\r\ny,z\r\n') == [['say "hi"', "x"], ["y", "z"]]
assert read_rows('"two\nlines",x\n\nlast,row') == [["two\nlines", "x"], ["last", "row"]]
assert read_rows("") == []
EOF
