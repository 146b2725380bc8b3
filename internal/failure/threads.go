package failure

import "strings"

var (
	otherStack = lazy(`^~+ Stack of .* \(\d+\) ~+$`)
	stacksEnd  = lazy(`^(?:\++ Timeout \++|[=_!-]{3,}.*|FAILED .*|ERROR .*)$`)
	faultStack = lazy(`^(Current thread|Thread) 0x[0-9a-f]+ (?:\[.*\] )?\(most recent call first\):$`)
	javaStack  = lazy(`^"([^"]*)" (?:#\d+ )?(?:\[\d+\] )?(?:daemon |prio=|os_prio=|Id=)`)
)

// threads drops from dumps of all threads those that did not fail: which there are, and where they wait, is chance.
func threads(lines []string) []string {
	current := false
	for _, line := range lines {
		current = current || strings.HasPrefix(line, "Current thread 0x")
	}
	var kept []string
	skipping := ""
	for _, line := range lines {
		kind := dumped(line, current)
		switch {
		case kind == "keep":
			skipping = ""
		case kind != "":
			skipping = kind
		case skipping == "python" && stacksEnd.MatchString(line):
			skipping = ""
		case skipping == "fault" && line != "" && !strings.HasPrefix(line, "  File "),
			skipping == "java" && line != "" && !startsAny(line, "\t", " "):
			skipping = ""
		}
		if skipping == "" && kind != "keep" {
			kept = append(kept, line)
		}
	}
	return kept
}

// dumped is what kind of dump a line begins: python, fault, java, keep for the thread that failed; empty: none.
func dumped(line string, current bool) string {
	switch {
	case strings.HasPrefix(line, "~"):
		if otherStack.MatchString(line) {
			return "python"
		}
	case strings.Contains(line, "hread 0x"):
		if m := faultStack.FindStringSubmatch(line); m != nil {
			if current && m[1] == "Thread" {
				return "fault"
			}
			return "keep"
		}
	case strings.HasPrefix(line, `"`):
		if m := javaStack.FindStringSubmatch(line); m != nil {
			if m[1] != "main" {
				return "java"
			}
			return "keep"
		}
	}
	return ""
}
