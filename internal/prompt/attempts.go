package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// output is one text of an attempt: what a failed check printed, or the agent's last words.
type output struct {
	verdict int    // its index
	check   string // its name; empty: the agent's words
	text    string
	key     string // the failure, by check and hash; empty: no one knows whether it is the same as another
	same    int    // the attempt that had the same output; 0: none
	own     bool   // the harness's own words, or a reviewer's: no program printed them
	moved   bool   // it stands elsewhere in the prompt
	lost    bool   // there was no room
}

func (o output) heading() string {
	if o.own {
		return line(o.check) + " says"
	}
	return "Output of " + line(o.check) + " (verbatim)"
}

// outputs are an attempt's texts, those of failed checks first. seen are the failures of newer attempts. Texts of the
// newest attempt that go before the prompt are not among them; none are if one replaces the prompt.
func outputs(it loop.Iteration, newest bool, seen map[string]int) []*output {
	replaced := newest && slices.ContainsFunc(it.Verdicts,
		func(v loop.Verdict) bool { return failed(v) && v.FailAction == loop.Replace && v.PromptText != "" })
	var out []*output
	for i, v := range it.Verdicts {
		text := v.PromptText
		if text == "" {
			text = v.Output
		}
		if !failed(v) || text == "" {
			continue
		}
		o := &output{verdict: i, check: v.Check, text: text, own: v.FailAction == "" && v.PromptText != "",
			moved: newest && v.PromptText != "" && (replaced || v.FailAction == loop.Prepend)}
		if v.Hash != "" {
			o.key = v.Check + "\x00" + v.Hash
			o.same = seen[o.key]
		}
		out = append(out, o)
	}
	if words := strings.TrimSpace(it.Turn.Text); words != "" {
		out = append(out, &output{text: clip(words, loop.TextBytes/4)})
	}
	return out
}

// failed reports whether a verdict says no, hard or soft.
func failed(v loop.Verdict) bool { return !v.Pass && v.Skipped == "" }

// shareRoom cuts texts to a room that they share fairly, and returns what they take. If there are so many that a share
// would be useless, the last of them get none.
func shareRoom(texts []*output, room int) (used int) {
	const around = 64 // heading and borders
	most := max(room/(minOutput+around), 0)
	var wishes []int
	var takers []*output
	for _, o := range texts {
		if o.same > 0 {
			continue
		}
		if len(takers) == most {
			o.lost = true
			continue
		}
		takers = append(takers, o)
		wishes = append(wishes, len(o.text)+around+len(line(o.check)))
	}
	for i, got := range fair(wishes, room) {
		o := takers[i]
		used += got
		o.text = middle(o.text, max(got-around-len(line(o.check)), 0))
	}
	return used
}

// attemptText is one attempt: what it changed, what each check said, and its texts.
func attemptText(it loop.Iteration, texts []*output) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Attempt %d%s: %s\n\n%s", it.N, purpose(it), result(it),
		list(facts(it), maxHeads/loop.Window-maxLine, "- ", "facts"))
	lost := 0
	for _, o := range texts {
		switch {
		case o.lost:
			lost++
		case o.moved:
		case o.same > 0:
			fmt.Fprintf(&b, "\n\nOutput of %s: the same failure as in attempt %d, see there.", line(o.check), o.same)
		case o.check == "":
			b.WriteString("\n\nThe agent's last words then:\n\n" + verbatim(o.text))
		default:
			fmt.Fprintf(&b, "\n\n%s:\n\n%s", o.heading(), verbatim(o.text))
		}
	}
	if lost > 0 {
		fmt.Fprintf(&b, "\n\n%d more outputs are left out.", lost)
	}
	return b.String()
}

// purpose is what an iteration of a plan was for.
func purpose(it loop.Iteration) string {
	if it.Story == "" {
		return ""
	}
	return " (" + lineOf(string(it.Mode), 20) + ")"
}

// result is what happened to an attempt, in the words of the check that said no: before a missing claim, what is in
// the way of the work.
func result(it loop.Iteration) string {
	text := "passed"
	if it.Commit != nil && it.Commit.Plan != nil && it.Commit.Plan.Opinion != nil && !it.Commit.Plan.Opinion.Approve {
		text = "it asked for changes"
	}
	f := it.Failure()
	if f != nil {
		text = fmt.Sprintf("failed at %s: %s", lineOf(f.Check, 80), line(f.Reason))
	}
	switch {
	case it.Turn.Class == loop.OK, f != nil && f.Check == loop.AgentCheck:
	case it.Turn.Class == loop.Broke, it.Turn.Class == loop.Missing:
		text += "; its turn did not end well: " + line(it.Turn.Reason)
	default:
		text += "; its turn was cut off: " + line(it.Turn.Reason)
	}
	return text
}

// facts are what the state file reports an attempt, a line each.
func facts(it loop.Iteration) []string {
	var passed, waiting, out []string
	for _, v := range it.Verdicts {
		name := lineOf(v.Check, 80)
		switch {
		case v.Skipped != "":
			waiting = append(waiting, name)
		case v.Pass:
			passed = append(passed, name)
		case v.Blocks():
			out = append(out, "failed: "+name+hash(v))
		default:
			out = append(out, fmt.Sprintf("warns: %s%s: %s", name, hash(v), lineOf(v.Reason, 80)))
		}
	}
	if len(passed) > 0 {
		out = append(out, "passed: "+safetext.AndMore(passed, 4))
	}
	if len(waiting) > 0 {
		out = append(out, "not run: "+safetext.AndMore(waiting, 2))
	}
	if it.Tier == loop.Shift || it.Tier == loop.Expand {
		out = append(out, "it was instructed to try a fundamentally different approach")
	}
	if it.Commit != nil && it.Commit.Note != "" {
		out = append(out, "its commit: "+line(it.Commit.Note))
	}
	return append([]string{"changed: " + changed(it)}, out...)
}

func hash(v loop.Verdict) string {
	if v.Hash == "" {
		return ""
	}
	return " (error hash " + lineOf(v.Hash, 16) + ")"
}

// changed names the files that an attempt changed.
func changed(it loop.Iteration) string {
	switch c := it.Commit; {
	case c == nil || c.Unchecked:
		return "not known"
	case c.Empty || len(c.Files) == 0:
		return "nothing"
	default:
		return safetext.AndMore(names(c), 3)
	}
}

func names(c *loop.Commit) []string {
	var out []string
	for _, f := range c.Files {
		out = append(out, lineOf(f.Path, 60))
	}
	return out
}

// judged are the newest iterations that the checks have spoken about, at most so many, oldest first.
func judged(s loop.State, most int) []*loop.Iteration {
	all := s.Judged()
	return all[max(0, len(all)-most):]
}

// attempts reports the last attempts, newest last: the facts of the state file, which are what every check said and the
// outputs of those that failed, verbatim within the room, and the agents' last words. The newest outputs get room
// first. Texts of the newest attempt that are elsewhere in the prompt are returned, as far as they fit.
func attempts(s loop.State, room int, border safetext.Border) (text string, elsewhere []loop.Verdict) {
	its := judged(s, loop.Window)
	if len(its) == 0 {
		return "First attempt", nil
	}
	room -= maxHeads
	out := make([]string, len(its))
	seen := map[string]int{}
	for i := len(its) - 1; i >= 0; i-- {
		it := its[i]
		newest := i == len(its)-1
		texts := outputs(*it, newest, seen)
		room -= shareRoom(texts, room)
		for _, o := range texts {
			if o.moved && !o.lost {
				v := it.Verdicts[o.verdict]
				v.PromptText = o.text
				elsewhere = append(elsewhere, v)
			}
			if key := o.key; key != "" && seen[key] == 0 {
				seen[key] = it.N
			}
		}
		out[i] = attemptText(*it, texts)
	}
	return asData(border, "what was tried and what came of it", strings.Join(out, "\n\n")) +
		"\n\nWhat those attempts changed is committed and lies before you. Build on it, or undo what was wrong.", elsewhere
}
