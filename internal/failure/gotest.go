package failure

import (
	"encoding/json"
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

// goEvent is one line of go test -json.
type goEvent struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}
