set -euo pipefail
check_go <<'EOF'
package task

import (
	"sync"
	"testing"
)

func TestConcurrent(t *testing.T) {
	var counter Counter
	var writers, readers sync.WaitGroup
	done := make(chan bool)
	for i := 0; i < 8; i++ {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for j := 0; j < 100000; j++ {
				counter.Add("x")
			}
		}()
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-done:
					return
				default:
					counter.Get("x")
				}
			}
		}()
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got := counter.Get("x"); got != 800000 {
		t.Fatal(got)
	}
}
EOF
