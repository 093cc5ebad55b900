set -euo pipefail
git diff --quiet HEAD -- test.sh
cat > hidden_check_test.go <<'EOF'
package task

import "testing"

func TestLine(t *testing.T) {
	if got := Line("a", 3); got != "a: 3" {
		t.Fatal(got)
	}
}
EOF
./test.sh
