// Package secret knows secrets in the forms that they travel in: the values that a run holds, as they are, encoded, in
// parts and compressed, and texts that look like a credential of somebody's.
package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Redactor are values that nobody may be told. The zero value knows none. It is safe for concurrent use.
type Redactor struct {
	values []string
	once   sync.Once
	forms  []form
	index  index
	short  []int // the forms that are too short for the index
	most   int   // how long the longest form is
}

// Span is a part of a text, in bytes, that tells a secret.
type Span struct {
	From, To int
	As       string // how it is written there: "as it is", "in base64", "compressed with gzip, in base64"
}

// NewRedactor makes ready to look for values. Those of fewer than six characters are ignored, because they would take ordinary
// words with them.
func NewRedactor(values []string) *Redactor { return &Redactor{values: slices.Clone(values)} }

// Empty reports whether there is nothing to look for.
func (k *Redactor) Empty() bool {
	k.ready()
	return len(k.forms) == 0
}

// ready makes the forms when somebody first looks for them: many commands never do.
func (k *Redactor) ready() {
	k.once.Do(func() {
		for _, value := range k.values {
			k.forms = append(k.forms, formsOf(value)...)
		}
		slices.SortStableFunc(k.forms, func(a, b form) int { return strings.Compare(a.text, b.text) })
		k.forms = slices.CompactFunc(k.forms, func(a, b form) bool { return a.text == b.text && a.least == b.least })
		for i, f := range k.forms {
			k.most = max(k.most, len(f.text))
			if len(f.text) < grain {
				k.short = append(k.short, i)
			}
		}
		k.index = indexed(k.forms)
	})
}

// All are the parts of a text that tell a secret, in order; parts that overlap are one. What an earlier part has
// covered is not looked at again.
func (k *Redactor) All(text string) []Span { return k.spans(text, true) }

// First is the first part of a text that tells a secret which no commit may hold; ok is false when none does. Forms
// that others may share, such as the first line of a private key, do not count here.
func (k *Redactor) First(text string) (first Span, ok bool) {
	spans := k.spans(text, false)
	if len(spans) == 0 {
		return Span{}, false
	}
	return spans[0], true
}

// spans finds what is there; shared forms are told of by others too.
func (k *Redactor) spans(text string, shared bool) []Span {
	k.ready()
	if len(k.forms) == 0 {
		return nil
	}
	return Merged(k.plain(text, shared), k.packed(text, shared, mostDepth))
}

// Merged are the spans of several lists in order; those that overlap or touch are one.
func Merged(lists ...[]Span) []Span {
	spans := slices.Concat(lists...)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
