package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// stuckAt is how many equal failures in a row make a run stuck.
const stuckAt = 3

// stuck is the line that says what the run repeated and how often, and whether the strategy shifts changed nothing.
func stuck(s loop.State) string {
	spin := s.Spins()
	if spin.Count < stuckAt {
		return "No"
	}
	said := fmt.Sprintf("same error %dx", spin.Count)
	switch {
	case spin.Tree:
		said = fmt.Sprintf("unchanged tree %dx", spin.Count)
	case spin.InTurn > 0:
		said = fmt.Sprintf("%d errors in turn over %d attempts", spin.InTurn, spin.Over)
	}
	if spin.Numbers != "" {
		said += ", " + spin.Numbers
	}
	for _, it := range s.Iterations[max(0, len(s.Iterations)-spin.Over):] {
		if it.Judged && shifted(it) {
			said += ", strategy shift failed"
			break
		}
	}
	return "Yes (" + said + ")"
}

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
	if v.roles() {
		head, rule = append(head, "role"), rule+"---|"
	}
	b.WriteString(row(append(head, "gate", "error hash", "strategy shift")...) + rule + "---|---|---|\n")
	if hidden := len(attempts) - most; hidden > 0 {
		cells := make([]string, len(head)+3)
		cells[0], cells[len(head)] = "…", fmt.Sprintf("attempts %d to %d not shown", attempts[0].from, attempts[hidden-1].to)
		b.WriteString(row(cells...))
		attempts = attempts[hidden:]
	}
	for _, a := range attempts {
		cells := []string{a.number()}
		if v.roles() {
			cells = append(cells, a.role)
		}
		b.WriteString(row(append(cells, a.gate, a.hash, a.shift)...))
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
		a := attempt{from: it.N, to: it.N, role: v.role(it.Role), gate: "passed", hash: "–", shift: yes(shifted(it))}
		if f := it.Failure(); f != nil {
			a.gate, a.hash = v.name(f.Check, 60), or(v.name(f.Hash, 16), "–")
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
