package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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
	var o objectWriter
	o.field("project", p.Project)
	o.field("branchName", p.BranchName)
	o.field("description", p.Description)
	o.field("verifyCommands", listOf(p.VerifyCommands))
	o.field("userStories", listOf(p.Stories))
	return o.done(p.Extra)
}

// MarshalJSON implements json.Marshaler.
func (s Story) MarshalJSON() ([]byte, error) {
	var o objectWriter
	o.field("id", s.ID)
	o.field("title", s.Title)
	o.field("description", s.Description)
	o.field("acceptanceCriteria", listOf(s.AcceptanceCriteria))
	o.field("priority", s.Priority)
	o.field("passes", s.Passes)
	o.field("reviewStatus", s.ReviewStatus)
	o.field("reviewCount", s.ReviewCount)
	o.field("reviewFeedback", s.ReviewFeedback)
	o.field("notes", s.Notes)
	o.field("dependsOn", listOf(s.DependsOn))
	return o.done(s.Extra)
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

// UnmarshalJSON implements json.Unmarshaler. A status that is none is an error.
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
		return fmt.Errorf("reviewStatus is %s; allowed are null, %s", safetext.Quoted(*said), quoted(reviewStatuses))
	}
	return nil
}

// objectWriter writes an object in the order in which it is given the fields.
type objectWriter struct {
	b   bytes.Buffer
	err error
}

func (o *objectWriter) field(key string, value any) {
	if o.err != nil {
		return
	}
	o.b.WriteByte("{,"[min(o.b.Len(), 1)])
	e := json.NewEncoder(&o.b)
	e.SetEscapeHTML(false)
	if o.err = e.Encode(key); o.err != nil {
		return
	}
	o.b.Truncate(o.b.Len() - 1) // the newline of the encoder
	o.b.WriteByte(':')
	if o.err = e.Encode(value); o.err == nil {
		o.b.Truncate(o.b.Len() - 1)
	}
}

func (o *objectWriter) done(extra map[string]json.RawMessage) ([]byte, error) {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		o.field(key, extra[key])
	}
	o.b.WriteByte('}')
	return o.b.Bytes(), o.err
}

// UnmarshalJSON implements json.Unmarshaler, for what Marshal wrote: the rules of Parse are not asked again.
func (p *Plan) UnmarshalJSON(content []byte) error {
	var in struct {
		Project        string   `json:"project"`
		BranchName     string   `json:"branchName"`
		Description    string   `json:"description"`
		VerifyCommands []string `json:"verifyCommands"`
		Stories        []Story  `json:"userStories"`
	}
	extra, err := unmarshal(content, &in, planKeys)
	if err != nil {
		return fmt.Errorf("reading a plan: %w", err)
	}
	*p = Plan{in.Project, in.BranchName, in.Description, orNil(in.VerifyCommands), orNil(in.Stories), extra}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler, for what MarshalJSON wrote.
func (s *Story) UnmarshalJSON(content []byte) error {
	var in struct {
		ID                 string       `json:"id"`
		Title              string       `json:"title"`
		Description        string       `json:"description"`
		AcceptanceCriteria []string     `json:"acceptanceCriteria"`
		Priority           float64      `json:"priority"`
		Passes             bool         `json:"passes"`
		ReviewStatus       ReviewStatus `json:"reviewStatus"`
		ReviewCount        int          `json:"reviewCount"`
		ReviewFeedback     string       `json:"reviewFeedback"`
		Notes              string       `json:"notes"`
		DependsOn          []string     `json:"dependsOn"`
	}
	extra, err := unmarshal(content, &in, storyKeys)
	if err != nil {
		return fmt.Errorf("reading a story: %w", err)
	}
	*s = Story{in.ID, in.Title, in.Description, orNil(in.AcceptanceCriteria), in.Priority, in.Passes, in.ReviewStatus,
		in.ReviewCount,
		in.ReviewFeedback, in.Notes, orNil(in.DependsOn), extra}
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
		all[key] = plain(value)
	}
	return all, nil
}

// plain writes out the characters that encoding/json escapes when it writes a record, so that a value is what it was in
// the file.
func plain(raw json.RawMessage) json.RawMessage {
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		if end := i + len(`\u003c`); end <= len(raw) {
			if at := slices.Index(escapes, string(raw[i:end])); at >= 0 {
				out = append(out, escaped[at]...)
				i = end - 1
				continue
			}
		}
		out = append(out, raw[i], raw[i+1])
		i++
	}
	return out
}

var (
	escapes = []string{`\u003c`, `\u003e`, `\u0026`, `\u2028`, `\u2029`}
	escaped = []string{"<", ">", "&", "\u2028", "\u2029"}
)

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
