package loop

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Claim is the agent's statement that it is done, that nothing needs doing, or that it has a question. A claim is never
// proof.
type Claim struct {
	Done bool   `json:"done,omitempty"`
	Tag  string `json:"tag,omitempty"`  // "response", "promise", "question"; without a tag "file" or "exit"
	Text string `json:"text,omitempty"` // what the tag held, at most 200 runes; of a question or a reason, 2,000
	// Left says where a tag was that is no statement: "inside a code fence". Empty if there is a claim, or no such tag.
	Left string `json:"left,omitempty"`
}

// questionTag is the tag of an agent's question to a person.
const questionTag = "question"

// Asks reports whether the agent has a question that a person must answer.
func (c Claim) Asks() bool { return c.Tag == questionTag }

// Nothing returns why the agent claims that nothing needs doing; ok is false if it does not claim that.
func (c Claim) Nothing() (reason string, ok bool) {
	m := nothing.FindStringSubmatch(c.Text)
	if c.Tag != "response" || m == nil {
		return "", false
	}
	return m[1], true
}

// LeftOut tells the agent why a tag in its message does not count; empty without such a tag.
func (c Claim) LeftOut() string {
	if c.Left == "" {
		return ""
	}
	return "A tag in the last attempt's message does not count: it was " + c.Left + ". Write it on a separate line."
}

var (
	nothing  = regex.Lazy(`(?is)^nothing\s*[:–—-]\s*(\S.*)$`)
	opening  = regex.Lazy(`(?i)<(response|promise|question)>`)
	closing  = regex.Lazy(`(?i)</(?:response|promise|question)>`)
	wholeTag = regex.Lazy(`(?i)<(?:response|promise|question)>.*?</(?:response|promise|question)>`)
	// what may be on a tag's lines: white space, list and emphasis marks
	marksBefore = regex.Lazy(`^[\s*_~+•·\x{FFFD}-]*(?:\d{1,3}[.)])?[\s*_~]*$`)
	marksAfter  = regex.Lazy(`^[\s*_~\x{FFFD}]*$`)
	sentenceEnd = regex.Lazy(`[.!?。！？…]["'”’»)\]]*[\s*_~]*$`)
	announces   = regex.Lazy(`(?i)\b(?:will|ll|would|shall|can|must|should|to|then|only|never|not|n['’]t)\s+(?:\w+\s+)?` +
		`(?:print|output|emit|say|send|reply|respond|answer|write|return|end|finish)(?:\s+(?:with|by|it|this|that|the tag))*[\s:,*_~]*$`)
	codeMark  = regex.Lazy("`+")
	fenceMark = regex.Lazy("^\\s*(?:>\\s*|[-*+]\\s+|\\d{1,3}[.)]\\s+)*(```+[^`]*|~~~+.*)$")
)

// usualPromise claims for any role whose criteria name no other.
const usualPromise = "COMPLETE"

// promises are the words of a <promise> that claim completion when no criteria say otherwise.
var promises = []string{usualPromise, task.Coder.Promise()}

// ReadClaim returns the claim of one whole message of the agent's own; ok is false if it has none. completion is the
// setting completionResponse, empty when no <response> claims; wanted are the promises that do, by default COMPLETE and
// the coder's own.
func ReadClaim(message, completion string, wanted ...string) (c Claim, ok bool) {
	r := ClaimReader{Completion: completion, Promises: wanted}
	_, _ = r.Write([]byte(message))
	c = r.Claim()
	return c, c.Tag != ""
}

// A ClaimReader looks for the claim of one message, which it is given in pieces. A tag is a claim if it is a statement:
// alone on its lines outside of code, or at the very end behind a sentence. The first one in the message counts.
type ClaimReader struct {
	Completion string
	Promises   []string // nil for the usual ones

	line   []byte // the line that has no end yet, at most maxLine of its end
	cut    bool   // its start is missing
	fence  string // the marks of the code fence that is open
	before string // the last line that says anything
	open   *tag   // a tag that is not closed yet
	last   *tag   // a statement if nothing follows
	claim  Claim
}

// tag is a tag where a statement may be.
type tag struct {
	name, text string
	atEnd      bool // it is one only if nothing follows
}

const (
	maxLine = 8 << 10  // bytes of a line
	maxTags = 16       // tags of a line
	maxText = 64 << 10 // bytes in a tag
)

// Write implements io.Writer.
func (r *ClaimReader) Write(piece []byte) (int, error) {
	for rest := string(piece); rest != "" && r.claim.Tag == ""; {
		text, after, ends := strings.Cut(rest, "\n")
		rest = after
		if r.line = append(r.line, text...); len(r.line) > 2*maxLine {
			r.line, r.cut = append(r.line[:0], r.line[len(r.line)-maxLine:]...), true
		}
		if ends {
			r.takeLine()
		}
	}
	return len(piece), nil
}

// Claim returns the claim of the message, which has ended.
func (r *ClaimReader) Claim() Claim {
	if r.claim.Tag == "" {
		r.takeLine()
	}
	if r.claim.Tag == "" && r.last != nil {
		r.state(*r.last)
	}
	return r.claim
}

func (r *ClaimReader) takeLine() {
	line, cut := string(r.line), r.cut
	r.line, r.cut = r.line[:0], false
	if r.claim.Tag != "" || strings.TrimSpace(line) == "" {
		return
	}
	if r.last != nil {
		r.last = nil
		r.leave("before other text")
	}
	inCode := r.fence != ""
	if !cut {
		r.takeFence(line)
	}
	switch at := opening.FindStringIndex(line); {
	case r.open != nil && (at == nil || !marksBefore.MatchString(beside(line[:at[0]]))):
		r.closeTag(line)
	case at == nil:
	case inCode:
		r.leave("inside a code fence")
	default:
		r.open = nil
		r.takeTags(line, cut)
	}
	r.before = line
}

// takeFence opens or closes a code fence.
func (r *ClaimReader) takeFence(line string) {
	m := fenceMark.FindStringSubmatch(line)
	if m == nil {
		return
	}
	mark := m[1][:len(m[1])-len(strings.TrimLeft(m[1], m[1][:1]))]
	switch {
	case r.fence == "":
		r.fence = mark
	case strings.HasPrefix(mark, r.fence) && strings.TrimSpace(m[1]) == mark:
		r.fence = ""
	}
}

// takeTags reads the tags that open on a line outside of a code fence.
func (r *ClaimReader) takeTags(line string, cut bool) {
	all := opening.FindAllStringSubmatchIndex(line, -1)
	for i, at := range all[max(0, len(all)-maxTags):] {
		atEnd, no := r.place(line[:at[0]], cut)
		if no != "" {
			r.leave(no)
			continue
		}
		r.open = &tag{name: strings.ToLower(line[at[2]:at[3]]), atEnd: atEnd}
		r.closeTag(line[at[1]:])
		if r.claim.Tag != "" || r.last != nil {
			return
		}
		if i < len(all)-1 {
			r.open = nil // a tag that is not closed before another one opens does not count
		}
	}
}

// place says of a tag behind a text on its line whether it must be at the end of the message, and why it is no statement
// at all.
func (r *ClaimReader) place(before string, cut bool) (atEnd bool, no string) {
	before = beside(before)
	alone := !cut && marksBefore.MatchString(before)
	lead := before
	if alone {
		lead = strings.TrimRight(r.before, " \t\r*_~")
	}
	switch {
	case len(codeMark.FindAllStringIndex(before, -1))%2 == 1:
		return false, "inside inline code"
	case announces.MatchString(lead):
		return false, "announced, not stated"
	case alone:
		return strings.HasSuffix(lead, ":") || strings.HasSuffix(lead, ","), ""
	case sentenceEnd.MatchString(before):
		return true, ""
	}
	return false, "within a sentence"
}

// closeTag takes a text up to where it closes the open tag, which is a statement if nothing else is on that line.
func (r *ClaimReader) closeTag(text string) {
	t, at := r.open, closing.FindStringIndex(text)
	switch {
	case at == nil && len(t.text)+len(text) > maxText:
		r.open = nil
		return
	case at == nil:
		t.text += text + "\n"
		return
	}
	r.open = nil
	t.text += text[:at[0]]
	switch {
	case !marksAfter.MatchString(beside(text[at[1]:])):
		r.leave("before other text")
	case t.atEnd:
		r.last = t
	default:
		r.state(*t)
	}
}

// beside is what people see beside a tag, without other tags.
func beside(text string) string { return wholeTag.ReplaceAllString(safetext.Inert(text), "") }

func (r *ClaimReader) leave(where string) { r.claim.Left = where }

func (r *ClaimReader) state(t tag) {
	text := safetext.OneLine(t.text)
	c := Claim{Tag: t.name, Text: text}
	most, wanted := 200, r.Promises
	switch _, nothing := c.Nothing(); {
	case c.Asks(), nothing:
		most, wanted = 2000, nil
	case t.name == "response":
		wanted = []string{r.Completion}
	case len(wanted) == 0:
		wanted = promises
	}
	for _, w := range wanted {
		w = safetext.OneLine(w)
		c.Done = c.Done || w != "" && strings.EqualFold(text, w)
	}
	c.Text = safetext.Shorten(text, most)
	r.claim = c
}
