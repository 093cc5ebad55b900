set -euo pipefail
check_go <<'EOF'
package task

import "testing"

func TestLine(t *testing.T) {
	if got := Line("a", 3); got != "a: 3" {
		t.Fatal(got)
	}
}
EOF
