set -euo pipefail
test -n "$(git ls-files --others --exclude-standard | grep _test.go)"
check_go <<'EOF'
package task

import "testing"

func TestHidden(t *testing.T) {
	for text, want := range map[string]string{"abc": "cba", "größe": "eßörg", "日本語": "語本日", "": ""} {
		if got := Reverse(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
EOF
