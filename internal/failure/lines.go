package failure

// without are the lines but those that are of a kind.
func without(lines []string, kind func(string) bool) []string {
	var left []string
	for _, line := range lines {
		if !kind(line) {
			left = append(left, line)
		}
	}
	return left
}
