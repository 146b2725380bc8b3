// Package secret knows secrets in the forms that they travel in: the values that a run holds, as they are and encoded,
// and texts that look like a credential of someone's.
package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Redactor finds values that must not be shown, and what looks like a credential. The zero value knows no values. It is
// safe for concurrent use.
type Redactor struct {
	values    []string
	once      sync.Once
	shown     *automaton // what is hidden where it is shown
	committed *automaton // what no commit may hold
}

// NewRedactor makes ready to look for values. Those of fewer than six characters are ignored, because they would take
// ordinary words with them.
func NewRedactor(values []string) *Redactor { return &Redactor{values: slices.Clone(values)} }

// ready makes the forms when someone first looks for them: many commands never do.
func (k *Redactor) ready() {
	k.once.Do(func() {
		var forms []form
		for _, value := range k.values {
			forms = append(forms, formsOf(value)...)
		}
		k.committed = newAutomaton(slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.shared }))
		for _, r := range rules {
			looks := regex.Made("^(?:" + r.Pattern.String() + ")")
			for _, mark := range r.Marks {
				if r.Shown {
					forms = append(forms, form{text: mark, as: r.What, looks: looks})
				}
			}
		}
		k.shown = newAutomaton(forms)
	})
}

// All are the parts of a text that tell a secret or look like a credential, in order; parts that overlap are one.
func (k *Redactor) All(text string) (spans []Span) {
	k.ready()
	k.shown.find(text, func(f *form, from, to int) (more bool) {
		if f.looks != nil {
			from, to = f.at(text, from)
		}
		if to > from {
			spans = append(spans, Span{from, to, f.as})
		}
		return true
	})
	return Merged(spans)
}

// First is the first part of a text that tells a secret which no commit may hold; ok is false when none does. Forms
// that others may share, such as the first line of a private key, do not count here.
func (k *Redactor) First(text string) (first Span, ok bool) {
	k.ready()
	k.committed.find(text, func(f *form, from, to int) (more bool) {
		if ok = !f.shared; ok {
			first = Span{from, to, f.as}
		}
		return !ok
	})
	return first, ok
}

// Finder looks for secrets in what is written to it, however it is parted.
type Finder struct {
	known *Redactor
	tail  string // the end of what came before: a secret may lie across two writes
	found bool
}

// Finder makes one.
func (k *Redactor) Finder() *Finder {
	k.ready()
	return &Finder{known: k}
}

// Found reports whether something that was written tells a secret.
func (f *Finder) Found() bool { return f.found }

// Write implements io.Writer. It never fails.
func (f *Finder) Write(p []byte) (int, error) {
	if !f.found {
		text := f.tail + string(p)
		_, f.found = f.known.First(text)
		f.tail = strings.Clone(text[max(0, len(text)-2*f.known.committed.most):]) // line ends may be in it
	}
	return len(p), nil
}

// MarkWord is in every mark that stands where something that looks like a credential was taken out of a commit.
const MarkWord = "ralph-took-out"

// Mark stands for a credential that was taken out. It names the kind of credential, and has a hash that differs for
// each but does not reveal it.
type Mark struct{ Rule, Sum string }

// MarkOf is the mark of a credential of a text.
func MarkOf(text string, c Credential) Mark {
	sum := sha256.Sum256([]byte(text[c.From:c.To]))
	return Mark{c.Rule, hex.EncodeToString(sum[:4])}
}

func (m Mark) String() string { return "[" + MarkWord + ":" + m.Rule + ":" + m.Sum + "]" }

// Name is what someone accepts it by, in the file of that path: "docs/sample.md:aws-key".
func (m Mark) Name(path string) string { return path + ":" + m.Rule }

// Says is what it means, in a sentence without its end: the same for the same credential, wherever it stands.
func (m Mark) Says() string {
	return "it looked like " + what(m.Rule) + " (" + m.Sum + "), and was taken out of the commit"
}

func what(name string) string {
	for _, r := range rules {
		if r.Name == name {
			return r.What
		}
	}
	return "a credential"
}

var marked = regex.Lazy(`\[` + MarkWord + `:([a-z-]{1,40}):([0-9a-f]{8})\]`)

// Marks are those that are in a text.
func Marks(text string) (marks []Mark) {
	if !strings.Contains(text, MarkWord) {
		return nil
	}
	for _, m := range marked.FindAllStringSubmatch(text, -1) {
		marks = append(marks, Mark{m[1], m[2]})
	}
	return marks
}

// TakeOut puts marks in the place of the credentials of a text.
func TakeOut(text string, out []Credential) string {
	var b strings.Builder
	end := 0
	for _, c := range out {
		b.WriteString(text[end:c.From] + MarkOf(text, c).String())
		end = c.To
	}
	return b.String() + text[end:]
}
