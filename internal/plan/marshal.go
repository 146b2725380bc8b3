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

// UnmarshalJSON implements json.Unmarshaler, for what Marshal wrote: the rules of Parse are not asked again.
func (p *Plan) UnmarshalJSON(content []byte) error {
	type fields Plan
	var in fields
	extra, err := unmarshal(content, &in, planKeys)
	if err != nil {
		return fmt.Errorf("reading a plan: %w", err)
	}
	*p = Plan(in)
	p.VerifyCommands, p.Stories, p.Extra = orNil(in.VerifyCommands), orNil(in.Stories), extra
	return nil
}

// UnmarshalJSON implements json.Unmarshaler, for what MarshalJSON wrote.
func (s *Story) UnmarshalJSON(content []byte) error {
	type fields Story
	var in fields
	extra, err := unmarshal(content, &in, storyKeys)
	if err != nil {
		return fmt.Errorf("reading a story: %w", err)
	}
	*s = Story(in)
	s.AcceptanceCriteria, s.DependsOn, s.Extra = orNil(in.AcceptanceCriteria), orNil(in.DependsOn), extra
	return nil
}

// unmarshal reads an object's known fields into a struct, and gives back the others.
func unmarshal(content []byte, known any, keys []string) (map[string]json.RawMessage, error) {
	if err := json.Unmarshal(content, known); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, err
	}
	for _, key := range keys {
		delete(all, key)
	}
	if len(all) == 0 {
		return nil, nil
	}
	for key, value := range all {
		all[key] = json.RawMessage(unescaped.Replace(string(value)))
	}
	return all, nil
}

// unescaped writes out the characters that encoding/json escapes when it writes a record, so that a value is what it
// was in the file.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`,
	"\u2029")

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
