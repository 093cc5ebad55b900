package task

// WithFlag returns the flags with one more at their end.
func WithFlag(flags []string, flag string) []string {
	return append(flags, flag)
}
