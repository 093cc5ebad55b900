set -euo pipefail
check_go <<'EOF'
package task

import "testing"

func TestAlias(t *testing.T) {
	base := append(make([]string, 0, 8), "a")
	one, two := WithFlag(base, "b"), WithFlag(base, "c")
	if one[1] != "b" || two[1] != "c" || len(base) != 1 || len(WithFlag(nil, "x")) != 1 {
		t.Fatal(one, two)
	}
}
EOF
