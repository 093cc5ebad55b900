package task

// Counter counts names.
type Counter struct {
	counts map[string]int
}

// Add counts a name once more.
func (c *Counter) Add(name string) {
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[name]++
}

// Get returns how often a name was counted.
func (c *Counter) Get(name string) int {
	return c.counts[name]
}
