package failure

import "strings"

var (
	typeScriptSays = lazy(`^(.*?)(?:\(\d+,\d+\): |:\d+:\d+ - )?(error TS\d+: .*)$`)
	typeScriptSums = lazy(`^(?:Errors  Files|\s*\d+  \S+:\d+)$`) // a table at the end
)

// typeScript keeps the TypeScript compiler's errors with their chains of reasons: with a terminal it shows the code and
// more beside them, and writes the place in another way.
func typeScript(lines []string) []string {
	var kept []string
	inside, chain, seen := false, false, false
	for _, line := range lines {
		m := typeScriptSays.FindStringSubmatch(line)
		seen = seen || m != nil
		switch {
		case seen && typeScriptSums.MatchString(line):
		case m != nil && m[1] != "" && !strings.ContainsAny(m[1], " \t"):
			kept = append(kept, m[1]+": "+m[2])
			inside, chain = true, true
		case m != nil:
			kept = append(kept, line)
			inside, chain = true, true
		case chain && strings.HasPrefix(line, "  "):
			kept = append(kept, line)
		case inside && (line == "" || line[0] == ' ' || line[0] >= '0' && line[0] <= '9'):
			chain = false
		case inside && strings.HasPrefix(line, "Found "):
			inside = false
		default:
			inside, chain = false, false
			kept = append(kept, line)
		}
	}
	return kept
}

var (
	anError  = lazy(`^(?:.*: )?(?:fatal )?error(?:\[\w+\])?: `)
	aWarning = lazy(`^(?:\S+:\d+(?::\d+)?: )?warning(?:\[\w+\])?: `)
)

// warnings drops a compiler's warnings, with the code they show, where there are errors: what is up to date is not
// compiled again, and its warnings do not come again.
func warnings(lines []string) []string {
	failed := false
	for _, line := range lines {
		failed = failed || anError.MatchString(line)
	}
	if !failed {
		return lines
	}
	var kept []string
	inside := false
	for _, line := range lines {
		switch {
		case aWarning.MatchString(line):
			inside = true
		case inside && line != "" && (line[0] == ' ' || line[0] >= '0' && line[0] <= '9' ||
			strings.Contains(line, ": note: ")):
		default:
			inside = false
			kept = append(kept, line)
		}
	}
	return kept
}
