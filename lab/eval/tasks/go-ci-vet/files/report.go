package task

import "fmt"

// Line formats a name and its count.
func Line(name string, count int) string {
	return fmt.Sprintf("%s: %s", name, count)
}
