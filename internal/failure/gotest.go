package failure

import (
	"encoding/json"
	"slices"
	"strings"
)

// goEvents turns the events of go test -json into the text that they carry, test by test; other lines stay.
func goEvents(lines []string) []string {
	var order []string
	texts := map[string]*strings.Builder{}
	var rest []string
	for _, line := range lines {
		e, ok := readEvent(line)
		if !ok {
			rest = append(rest, line)
			continue
		}
		key := e.Package + e.ImportPath + "\x00" + e.Test
		if texts[key] == nil {
			texts[key] = &strings.Builder{}
			order = append(order, key)
		}
		texts[key].WriteString(e.Output)
	}
	if len(order) == 0 {
		return lines
	}
	for _, key := range order {
		rest = append(rest, clean(texts[key].String())...)
	}
	return rest
}

func readEvent(line string) (e goEvent, ok bool) {
	if !strings.HasPrefix(line, "{") || !strings.Contains(line, `"Action":"`) {
		return e, false
	}
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil
}

var (
	goSays = lazy(`^=== (?:RUN|PAUSE|CONT|NAME|ATTR) +(\S+)`)
	goEnds = lazy(`^ *--- (PASS|FAIL|SKIP|BENCH): (\S+)`)
)

// goTests drops what go test says of tests that passed.
func goTests(lines []string) []string {
	lines = unglueGo(lines)
	var owners []string // of each line; "" is nobody
	owner, passed, failed := "", map[string]bool{}, map[string]bool{}
	over := false // the owner has ended: only what is indented is its own
	for _, line := range lines {
		if over && line != "" && line[0] != ' ' || startsAny(line, "panic: ", "fatal error: ", "runtime: ", "SIG") {
			owner, over = "", false
		}
		if !strings.Contains(line, "--- ") && !startsAny(line, "=== ", "FAIL", "ok ", "PASS") {
			owners = append(owners, owner)
			continue
		}
		if m := goSays.FindStringSubmatch(line); m != nil {
			owner, over = m[1], false
		} else if m := goEnds.FindStringSubmatch(line); m != nil {
			owner, over = m[2], true
			if m[1] == "FAIL" {
				failed[owner] = true
			} else {
				passed[owner] = true
			}
		} else if startsAny(line, "FAIL", "ok ", "PASS") {
			owner = ""
		}
		owners = append(owners, owner)
	}
	if len(passed)+len(failed) == 0 && owner == "" {
		return lines
	}
	var kept []string
	for i, line := range lines {
		if (!passed[owners[i]] || failed[owners[i]]) && !strings.HasPrefix(line, "=== ") {
			kept = append(kept, line)
		}
	}
	return kept
}

// unglueGo puts the result of a test on a line of its own where the test left a line unfinished.
func unglueGo(lines []string) []string {
	if !slices.ContainsFunc(lines, func(line string) bool { return gluedAt(line) > 0 }) {
		return lines
	}
	var apart []string
	for _, line := range lines {
		if at := gluedAt(line); at > 0 {
			apart = append(apart, line[:at])
			line = line[at:]
		}
		apart = append(apart, line)
	}
	return apart
}

// gluedAt is where a result begins behind other text on a line; 0: nowhere.
func gluedAt(line string) int {
	for _, result := range []string{"--- FAIL: Test", "--- PASS: Test", "FAIL\t", "ok  \t"} {
		if i := strings.Index(line, result); i > 0 && strings.HasSuffix(strings.TrimRight(line, ")"), "s") &&
			strings.TrimSpace(line[:i]) != "" {
			return i
		}
	}
	return 0
}

var (
	goCall = lazy(`^\s*([\w./()*\-\[\]…%~]+)\(.*\)$`)
)

func isRuntime(function string) bool {
	return startsAny(function, "runtime.", "testing.", "panic", "created by", "internal/", "sync.", "reflect.", "syscall.",
		"net/http.", "os/signal.")
}

var (
	dump    = lazy(`^(?:goroutine \d+ .*\[.*\]|runtime stack):$`)
	dumpEnd = lazy(`^(?:FAIL|exit status|ok |--- |=== |panic: |fatal error: )`)
)

// goroutines leaves of a Go program's dump the functions of the goroutine that panicked.
func goroutines(lines []string) []string {
	var kept []string
	inside, own, met := false, false, false // within a dump; within the stack of the one that panicked; which has been met
	for _, line := range lines {
		switch {
		case startsAny(line, "goroutine ", "runtime stack:") && dump.MatchString(line):
			first := line[0] == 'g' && !met
			inside, own, met = true, first, met || first
		case !inside:
			kept = append(kept, line)
		case dumpEnd.MatchString(line):
			inside, own, met = false, false, false
			kept = append(kept, line)
		case own && line != "" && line[0] != '\t':
			if m := goCall.FindStringSubmatch(line); m != nil && !isRuntime(m[1]) {
				kept = append(kept, "in "+m[1])
			}
		case line == "":
			own = false
		}
	}
	return kept
}

// goEvent is one line of go test -json.
type goEvent struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}
