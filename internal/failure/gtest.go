package failure

var gtestSays = lazy(`^\[ *(RUN|OK|FAILED) *\] (\S+?)[,.]?(?: .*)?$`)

// gtest drops what GoogleTest says of tests that passed, and that a test begins, unless it never ended.
func gtest(lines []string) []string {
	ended := map[string]string{}
	for _, line := range lines {
		if m := matchAfter(gtestSays, line, "["); m != nil && m[1] != "RUN" {
			ended[m[2]] = m[1]
		}
	}
	if len(ended) == 0 {
		return lines
	}
	var kept []string
	for _, line := range lines {
		m := matchAfter(gtestSays, line, "[")
		if m == nil || m[1] == "FAILED" || m[1] == "RUN" && ended[m[2]] == "" {
			kept = append(kept, line)
		}
	}
	return kept
}
