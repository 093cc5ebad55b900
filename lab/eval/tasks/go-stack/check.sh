set -euo pipefail
check_go <<'EOF'
package task

import (
	"runtime"
	"testing"
	"time"
)

func TestStack(t *testing.T) {
	var stack Stack[int]
	if _, ok := stack.Pop(); ok || stack.Len() != 0 {
		t.Fatal("not empty")
	}
	stack.Push(1)
	stack.Push(2)
	if value, ok := stack.Pop(); value != 2 || !ok || stack.Len() != 1 {
		t.Fatal(value, ok)
	}
}

func TestReleases(t *testing.T) {
	var stack Stack[*[64]int]
	freed := make(chan bool, 1)
	func() {
		value := new([64]int)
		runtime.SetFinalizer(value, func(*[64]int) { freed <- true })
		stack.Push(value)
		stack.Pop()
	}()
	for i := 0; i < 50; i++ {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(&stack)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	runtime.KeepAlive(&stack)
	t.Fatal("the popped value is kept alive")
}
EOF
