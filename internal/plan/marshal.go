package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Marshal is the plan as a tasks.json: indented by two spaces, the fields in the order of the template, those that are
// unknown after them by their names, a newline at the end. A plan that would not fit in a file that way is written
// without indentation.
func (p Plan) Marshal() []byte {
	flat, err := p.MarshalJSON()
	if err != nil {
		return nil // cannot be: a plan holds nothing that JSON cannot say, see Parse
	}
	var b bytes.Buffer
	if json.Indent(&b, flat, "", "  ") != nil || b.Len() >= maxPlan {
		return append(flat, '\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// MarshalJSON implements json.Marshaler.
func (p Plan) MarshalJSON() ([]byte, error) {
	type fields Plan
	p.VerifyCommands, p.Stories = listOf(p.VerifyCommands), listOf(p.Stories)
	return marshal(fields(p), p.Extra)
}

// MarshalJSON implements json.Marshaler.
func (s Story) MarshalJSON() ([]byte, error) {
	type fields Story
	s.AcceptanceCriteria, s.DependsOn = listOf(s.AcceptanceCriteria), listOf(s.DependsOn)
	return marshal(fields(s), s.Extra)
}

// listOf is a list that is never null in JSON.
func listOf[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MarshalJSON implements json.Marshaler: null when Unreviewed.
func (s ReviewStatus) MarshalJSON() ([]byte, error) {
	if s == Unreviewed {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

// UnmarshalJSON implements json.Unmarshaler. An unknown status is an error.
func (s *ReviewStatus) UnmarshalJSON(content []byte) error {
	var said *string
	if err := json.Unmarshal(content, &said); err != nil {
		return fmt.Errorf("reading a reviewStatus: %w", err)
	}
	switch {
	case said == nil:
		*s = Unreviewed
	case slices.Contains(reviewStatuses, ReviewStatus(*said)):
		*s = ReviewStatus(*said)
	default:
		return fmt.Errorf("reviewStatus is %s; must be null, %s", safetext.Quoted(*said), quoted(reviewStatuses))
	}
	return nil
}

// marshal is a struct as an object that also has some unknown fields, by their names.
func marshal(known any, extra map[string]json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(known)
	if err == nil && len(extra) > 0 {
		b.Truncate(b.Len() - len("}\n"))
		start := b.Len()
		err = e.Encode(extra)
		b.Bytes()[start] = ','
	}
	return bytes.TrimSpace(b.Bytes()), err
}

// UnmarshalJSON implements json.Unmarshaler, for what MarshalJSON wrote: the rules of Parse are not asked again, and a
// field that breaks one is left out.
func (p *Plan) UnmarshalJSON(content []byte) error {
	*p = (&reader{}).plan(unescaped(content))
	return json.Unmarshal(content, &map[string]json.RawMessage{})
}

// UnmarshalJSON implements json.Unmarshaler, as that of a plan.
func (s *Story) UnmarshalJSON(content []byte) error {
	*s = (&reader{}).story(1, unescaped(content))
	return json.Unmarshal(content, &map[string]json.RawMessage{})
}

// unescaped writes out the characters that encoding/json escapes when it writes a record, so that a value is what it
// was in the file.
func unescaped(content []byte) []byte {
	return []byte(strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`,
		"\u2029").Replace(string(content)))
}
