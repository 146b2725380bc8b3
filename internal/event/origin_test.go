package event

import "testing"

// TestOrigins: what an event came of is read back from its text, and nothing else is.
func TestOrigins(t *testing.T) {
	pull := &Issue{Number: 43, Pull: true}
	for want, ev := range map[string]Event{
		"comment:123":         {Kind: Commented, Issue: &Issue{Number: 42}, Comment: &Comment{ID: 123}},
		"line:123":            {Kind: Commented, Issue: pull, Comment: &Comment{ID: 123, Inline: true}},
		"review:43:5":         {Kind: Reviewed, Issue: pull, Review: &Review{ID: 5}},
		"label:42:ralph":      {Kind: Labeled, Issue: &Issue{Number: 42}, Label: "ralph"},
		"label:43:ralph:plan": {Kind: Labeled, Issue: &Issue{Number: 42}, On: 43, Label: "ralph:plan"},
		"suite:7":             {Kind: Built, Build: &Build{Suite: 7}},
		"sweep":               {Kind: Scheduled},
	} {
		o, ok := OriginOf(ev)
		read, parsed := ParseOrigin(o.String())
		if !ok || !parsed || o.String() != want || read != o {
			t.Errorf("%s: %q (%v), read as %+v (%v)", want, o, ok, read, parsed)
		}
	}
	for _, ev := range []Event{{Kind: Built, Build: &Build{}}, {Kind: Dispatched, Issue: &Issue{Number: 4}}} {
		if o, ok := OriginOf(ev); ok {
			t.Errorf("%s has the origin %s", ev.Kind, o)
		}
	}
	for _, text := range []string{"", "comment:", "comment:0", "comment:-1", "comment:1:2", "comment:01", "review:43",
		"review:43:x", "label:42", "label:42:", "issue:42", "comment:99999999999999999999", "line: 1", "suite:", "sweep:1"} {
		if o, ok := ParseOrigin(text); ok {
			t.Errorf("%q is read as %+v", text, o)
		}
	}
}
