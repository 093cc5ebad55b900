set -euo pipefail
git diff --quiet HEAD -- test.sh
cat > hidden_check_test.go <<'EOF'
package task

import (
	"sync"
	"testing"
)

func TestConcurrent(t *testing.T) {
	var counter Counter
	var group sync.WaitGroup
	for i := 0; i < 64; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 2000; j++ {
				counter.Add("x")
				counter.Get("x")
			}
		}()
	}
	group.Wait()
	if got := counter.Get("x"); got != 128000 {
		t.Fatal(got)
	}
}
EOF
./test.sh
