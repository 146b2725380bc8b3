package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/report/wording"
)

// errorHistory is the table of every attempt with its hash. Attempts in a row that failed alike share a line
// when there are more than most; what is still too much is counted.
func (v View) errorHistory(most int) string {
	attempts := v.attempts()
	if len(attempts) > most {
		attempts = foldedAttempts(attempts)
	}
	if len(attempts) == 0 || most == 0 {
		return ""
	}
	var b strings.Builder
	head, rule := []string{"#"}, "|--:|"
	if v.Roles() {
		head, rule = append(head, "role"), rule+"---|"
	}
	b.WriteString(wording.Row(append(head, "gate", "error hash", "strategy shift")...) + rule + "---|---|---|\n")
	if hidden := len(attempts) - most; hidden > 0 {
		cells := make([]string, len(head)+3)
		cells[0], cells[len(head)] = "…", fmt.Sprintf("attempts %d to %d not shown", attempts[0].from, attempts[hidden-1].to)
		b.WriteString(wording.Row(cells...))
		attempts = attempts[hidden:]
	}
	for _, a := range attempts {
		cells := []string{a.number()}
		if v.Roles() {
			cells = append(cells, a.role)
		}
		b.WriteString(wording.Row(append(cells, a.gate, a.hash, a.shift)...))
	}
	return b.String()
}

// attempt is one line of the error history: one attempt, or several in a row that failed alike.
type attempt struct {
	from, to                int
	role, gate, hash, shift string
}

func (a attempt) number() string {
	if a.from == a.to {
		return fmt.Sprint(a.from)
	}
	return fmt.Sprintf("%d–%d", a.from, a.to)
}

func (v View) attempts() (list []attempt) {
	for _, it := range v.State.Iterations {
		if !it.Judged {
			continue
		}
		a := attempt{from: it.N, to: it.N, role: v.role(it.Role), gate: "passed", hash: "–",
			shift: wording.Yes(wording.Shifted(it))}
		if f := it.Failure(); f != nil {
			a.gate, a.hash = v.name(f.Check, 60), cmp.Or(v.name(f.Hash, 16), "–")
		}
		list = append(list, a)
	}
	return list
}

func foldedAttempts(list []attempt) (folded []attempt) {
	for _, a := range list {
		if n := len(folded); n > 0 {
			before := folded[n-1]
			from := before.from
			before.from, before.to = a.from, a.to
			if before == a {
				folded[n-1].from, folded[n-1].to = from, a.to
				continue
			}
		}
		folded = append(folded, a)
	}
	return folded
}
