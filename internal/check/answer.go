package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Answer is what a reviewer says.
type Answer struct {
	Verdict string  `json:"verdict"` // "approve" or "request_changes"
	Tree    string  `json:"tree"`
	Summary string  `json:"summary"`
	Issues  []Issue `json:"issues"`
	Promise string  `json:"promise"` // empty: none
	// Criteria is what it says of each acceptance criterion; it may say nothing of any.
	Criteria []loop.Criterion `json:"criteria"`
	// Accepts are the findings that it accepts, each by its name with a reason.
	Accepts []loop.Acceptance `json:"accepts"`
}

// Issue is one thing the reviewer wants changed.
type Issue struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
}

// UnmarshalJSON implements json.Unmarshaler. A string is the problem, and a line that is no number is left out.
func (i *Issue) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &i.Problem) == nil {
		return nil
	}
	var in struct {
		File, Problem string
		Line          any
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	line, _ := in.Line.(float64)
	*i = Issue{File: in.File, Line: int(line), Problem: in.Problem}
	return nil
}

// ReadAnswer reads the one clear verdict on a tree that a reviewer gives: in its structured output, or anywhere in its own
// words, however it is wrapped. Everything that is not plainly an approval or a rejection of this tree is an error,
// which names no tree but this one.
func ReadAnswer(turn loop.Turn, tree string) (Answer, error) {
	said := lastWords(turn)
	all := answers(turn.Structured)
	if len(all) == 0 {
		if all = answers(said); len(all) == 0 {
			all = answersInWords(said)
		}
	}
	var ours []Answer
	for _, a := range all {
		named := len(a.Tree) >= shortTree && strings.HasPrefix(tree, a.Tree)
		same := func(b Answer) bool { return reflect.DeepEqual(a, b) }
		if (named || a.Tree == tree) && !slices.ContainsFunc(ours, same) {
			ours = append(ours, a)
		}
	}
	switch {
	case len(all) == 0:
		return Answer{}, errors.New("it holds no verdict that can be read")
	case len(ours) == 0 && all[len(all)-1].Tree == "":
		return Answer{}, errors.New("its verdict names no tree")
	case len(ours) == 0:
		return Answer{}, fmt.Errorf("its verdict is about another tree than %.12s", tree)
	case len(ours) > 1:
		return Answer{}, fmt.Errorf("it holds %d verdicts", len(ours))
	}
	a := ours[0]
	unmet := a.unmet()
	switch {
	case a.Verdict != approve && a.Verdict != requestChanges:
		return a, fmt.Errorf("its verdict is %.40q, not approve or request_changes", a.Verdict)
	case a.Verdict == approve && len(a.Issues) > 0:
		return a, fmt.Errorf("it approves and names %s", safetext.Count(len(a.Issues), "issue"))
	case a.Verdict == approve && len(unmet) > 0:
		return a, fmt.Errorf("it approves and says that %q is not met", safetext.Shorten(safetext.OneLine(unmet[0].Text), 80))
	case a.Verdict == requestChanges && len(a.Issues) == 0 && len(unmet) == 0 && strings.TrimSpace(a.Summary) == "":
		return a, errors.New("it asks for changes and names none")
	}
	return a, nil
}

// The verdicts of a reviewer.
const (
	approve        = "approve"
	requestChanges = "request_changes"
)

// shortTree is how many characters of a tree's hash name it.
const shortTree = 12

var (
	verdictKey  = lazy(`(?i)\bverdict\b`)
	approval    = lazy(`(?i)^approve[sd]?$`)
	rejection   = lazy(`(?i)^(?:(?:request(?:s|ed|ing)?|needs?) ?changes?|changes? ?(?:requested|needed|required)|reject(?:s|ed)?)$`)
	verdictSaid = lazy(`(?i)\bverdict\b[^\pL\n]{1,20}(approve[sd]?|(?:request(?:s|ed)?|needs?)[ _-]changes|changes[ _-]requested|reject(?:s|ed)?)\b(\W*(?:or\b|\|))?`)
	treeSaid    = lazy(`(?i)\btree\b[^\pL\pN\n]{1,20}([0-9a-f]{12,64})\b`)
	issueSaid   = lazy(`(?i)\bissues?\b[^\pL\pN\n]*\[\s*[^\s\]]|\bproblem["'*_]*\s*:`)
)

// answers are the verdicts in JSON that a text holds, in their order: bare or fenced, in prose, within another object or a
// string of one, and also with trailing commas, wrapped lines or smart quotes.
func answers(text string) []Answer {
	if list := answersIn(text); len(list) > 0 {
		return list
	}
	return answersIn(straight.Replace(text))
}

var straight = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`)

// What is tried in a text before it counts as none that can be read.
const (
	mostKeys   = 20
	mostBraces = 200
)

func answersIn(text string) (list []Answer) {
	end := 0
	keys := verdictKey.FindAllStringIndex(text, -1)
	for _, at := range keys[max(0, len(keys)-mostKeys):] {
		begin := at[0]
		for range mostBraces {
			if begin = strings.LastIndexByte(text[end:max(begin, end)], '{') + end; begin < end {
				break
			}
			length := objectLength(text[begin:])
			if begin+length <= at[0] {
				continue
			}
			if a, ok := decodeAnswer(text[begin : begin+length]); ok {
				list, end = append(list, a), begin+length
			}
			break
		}
	}
	return list
}

// objectLength is the length of the JSON object at the start of a text; 0 if it has no end.
func objectLength(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// decodeAnswer reads an object as it is, or else after its obvious faults are repaired.
func decodeAnswer(object string) (a Answer, ok bool) {
	inner, _ := strconv.Unquote(`"` + object + `"`) // the object of a string
	for _, try := range []string{object, repairedObject(object), inner} {
		a = Answer{}
		if json.Unmarshal([]byte(try), &a) == nil && a.Verdict != "" {
			a.tidy()
			return a, true
		}
	}
	return a, false
}

// repairedObject takes trailing commas and line ends within strings out of an object; empty: it has other faults.
func repairedObject(object string) string {
	flat := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, object)
	standard, _ := hujson.Standardize([]byte(flat))
	return string(standard)
}

// tidy writes the verdict in its required form, and the tree without what wraps it.
func (a *Answer) tidy() {
	a.Tree = strings.ToLower(strings.Trim(strings.Join(strings.Fields(a.Tree), ""), "`'\"*_."))
	words := strings.Join(strings.FieldsFunc(a.Verdict, func(r rune) bool { return !unicode.IsLetter(r) }), " ")
	switch {
	case approval.MatchString(words):
		a.Verdict = approve
	case rejection.MatchString(words):
		a.Verdict = requestChanges
	}
}

// answersInWords are the verdicts of a text that names verdict and tree in words: a list, a table, YAML, XML. A text
// that lists issues in an unreadable form holds no verdict.
func answersInWords(text string) (list []Answer) {
	trees := treeSaid.FindAllStringSubmatch(text, -1)
	for _, m := range verdictSaid.FindAllStringSubmatch(text, mostKeys) {
		a := Answer{Verdict: m[1], Summary: safetext.Shorten(safetext.OneLine(text), 2000)}
		if a.tidy(); m[2] != "" || issueSaid.MatchString(text) { // the required form itself, or one with issues
			continue
		}
		if len(trees) > 0 {
			a.Tree = strings.ToLower(trees[len(trees)-1][1])
		}
		list = append(list, a)
	}
	return list
}

// Forgotten are the findings among open that an approval does not accept by name, with a reason.
func (a Answer) Forgotten(open []loop.Concern) []loop.Concern {
	if a.Verdict != approve {
		return nil
	}
	return loop.Unnamed(loop.ForReaders(open), a.Acceptances(""))
}

// mostAgain is how often a question is repeated after an unclear answer.
const mostAgain = 2

// Questions are put to one reader until its answer is clear: the same one when an answer cannot be read, at most mostAgain
// times, and one about names when it approves without them.
type Questions struct {
	Tree string
	Open []loop.Concern
	Read func(turn loop.Turn) (Answer, error)

	asked    int
	approved *loop.Turn // it lacks names
}

// Next takes an answer. It returns what to add to the prompt for another one, with the reason, or else the turn that counts;
// then an error says that its answer is not clear.
func (q *Questions) Next(turn loop.Turn) (counts loop.Turn, more string, why error) {
	q.asked++
	a, unread := q.Read(turn)
	forgotten := a.Forgotten(q.Open)
	switch {
	case unread == nil && (q.approved != nil || len(forgotten) == 0):
		return turn, "", nil
	case q.approved != nil:
		return *q.approved, "", nil
	case unread == nil:
		q.approved = &turn
		return turn, fmt.Sprintf("\n\n## One Question Is Open\n\nThis change was approved without a word on some of these findings: "+
				"%s. Look at each, and answer in the form above: name those that the task wants under \"accepts\" with the reason, or "+
				"ask for changes.\n", safetext.Listed(loop.Names(loop.ForReaders(q.Open)))),
			fmt.Errorf("it approves and does not accept by name, with a reason: %s", safetext.FirstN(loop.Names(forgotten), 10))
	case q.asked > mostAgain:
		return turn, "", unread
	}
	// nothing of the answer itself: it would be repeated
	return turn, fmt.Sprintf("\n\n## The Form Matters\n\nAn answer to this was not read, because %s. Judge for yourself. End "+
		"your last message with exactly one JSON object in the form above, about the tree %s, with nothing after it; keep the "+
		"whole message under %d characters.\n", safetext.OneLine(unread.Error()), q.Tree, loop.TextBytes), unread
}

// verdict is what an answer means. who names its author in a sentence: "the reviewer".
func (a Answer) verdict(v loop.Verdict, who string) loop.Verdict {
	summary := safetext.OneLine(a.Summary)
	v.Criteria = a.judged()
	if a.Verdict == approve {
		v.Pass, v.Reason = true, summary
		return v
	}
	v.Reason = who + " asks for changes"
	if summary != "" {
		v.Reason += ": " + safetext.Shorten(summary, 200)
	}
	v.Output = loop.Excerpt(a.Feedback())
	v.PromptText = strings.Replace(who, "the", "A", 1) + " who read only the task and your change asks for this:\n\n" + v.Output
	return v
}

// Feedback is what the reviewer wants changed: the summary, an issue a line, and each criterion that is not met.
func (a Answer) Feedback() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", safetext.OneLine(a.Summary))
	for _, i := range a.Issues {
		where := ""
		if i.File != "" {
			where = i.File + ": "
			if i.Line > 0 {
				where = fmt.Sprintf("%s:%d: ", i.File, i.Line)
			}
		}
		fmt.Fprintf(&b, "- %s%s\n", where, strings.TrimSpace(i.Problem))
	}
	for _, c := range a.unmet() {
		fmt.Fprintf(&b, "- not met: %s: %s\n", safetext.ShortenBytes(safetext.OneLine(c.Text), maxCriterion),
			safetext.ShortenBytes(safetext.OneLine(c.Reason), maxCriterion))
	}
	return b.String()
}

// unmet are the criteria that the reviewer says are not met.
func (a Answer) unmet() (list []loop.Criterion) {
	for _, c := range a.Criteria {
		if !c.Met {
			list = append(list, c)
		}
	}
	return list
}

// What a verdict keeps of the criteria.
const (
	maxCriteria  = 50
	maxCriterion = 500 // bytes of a criterion, and of its reason
)

// judged are the criteria as a verdict keeps them, those that are not met before the others when there are too many.
func (a Answer) judged() []loop.Criterion {
	list := a.Criteria
	if len(list) > maxCriteria {
		met := slices.DeleteFunc(slices.Clone(list), func(c loop.Criterion) bool { return !c.Met })
		list = append(a.unmet(), met...)[:maxCriteria]
	}
	var kept []loop.Criterion
	for _, c := range list {
		kept = append(kept, loop.Criterion{Text: safetext.ShortenBytes(safetext.OneLine(c.Text), maxCriterion), Met: c.Met,
			Reason: safetext.ShortenBytes(safetext.OneLine(c.Reason), maxCriterion)})
	}
	return kept
}

// Acceptances are the findings that a reader accepts by name with a reason. "all" is no name here: each wants a look.
func (a Answer) Acceptances(by string) (list []loop.Acceptance) {
	for _, one := range a.Accepts[:min(len(a.Accepts), 2*loop.MaxConcerns)] {
		name, reason := loop.ConcernName(one.Name), safetext.ShortenBytes(safetext.OneLine(one.Reason), maxCriterion)
		if name != loop.AcceptAll && name != "" && reason != "" {
			list = append(list, loop.Acceptance{Name: name, Reason: reason, By: by})
		}
	}
	return list
}

// lastWords is the end of what an agent said, as much as an answer may have.
func lastWords(turn loop.Turn) string {
	said := turn.Text
	if len(turn.Transcript) > len(said) {
		said = turn.Transcript[max(0, len(turn.Transcript)-answerBytes):]
	}
	return said
}

// answerBytes is how much of the end of an answer is read.
const answerBytes = 64 << 10
