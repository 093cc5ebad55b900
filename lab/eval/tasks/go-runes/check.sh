set -euo pipefail
git diff --quiet HEAD -- test.sh
cat > hidden_check_test.go <<'EOF'
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
test -n "$(git ls-files --others --exclude-standard | grep _test.go | grep -v hidden)"
./test.sh
