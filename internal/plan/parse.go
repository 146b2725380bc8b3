package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// story reads the n-th story, from 1.
func (r *reader) story(n int, v *jsonValue) Story {
	where := fmt.Sprintf("story number %d", n)
	if v.kind != anObject {
		r.add("%s is %s; must be an object with the keys %s", where, v.shown(), safetext.Listed(storyKeys))
		return Story{}
	}
	if id := v.get("id"); id != nil && id.kind == aText && storyIDForm.MatchString(id.text) {
		where = "story " + id.text
	}
	f := fields{r, where, v}
	s := Story{
		Extra:              f.extra(storyKeys),
		ID:                 f.id(),
		Title:              f.text("title", true),
		Description:        f.text("description", false),
		AcceptanceCriteria: f.texts("acceptanceCriteria", true),
		Priority:           f.priority(),
		Passes:             f.passes(),
		ReviewStatus:       f.reviewStatus(),
		ReviewCount:        f.reviewCount(),
		ReviewFeedback:     f.text("reviewFeedback", true),
		Notes:              f.text("notes", false),
		DependsOn:          f.texts("dependsOn", false),
	}
	if s.Passes && strings.TrimSpace(s.Notes) == "" {
		f.wrong("passes is true and notes is empty; say in notes what was done")
	}
	return s
}

// The keys of a plan and of a story, in the order of the template.
var (
	planKeys  = []string{"project", "branchName", "description", "verifyCommands", "userStories"}
	storyKeys = []string{"id", "title", "description", "acceptanceCriteria", "priority", "passes", "reviewStatus",
		"reviewCount",
		"reviewFeedback", "notes", "dependsOn"}
)

// Parse reads a tasks.json strictly: JSON without duplicate or miscased keys, every field there with its type, ids
// unique. verifyCommands and a story's description, notes and dependsOn may be missing. Dependencies are read and not
// looked at, see Order. Lists that are empty are nil. The error is a *Error.
func Parse(name string, content []byte) (Plan, error) {
	v, err := readJSON(content)
	if err != nil {
		return Plan{}, &Error{Name: name, Problems: []string{err.Error()}}
	}
	return planOf(name, v)
}

// planOf is the plan that a JSON value holds.
func planOf(name string, v *jsonValue) (Plan, error) {
	var r reader
	p := r.plan(v)
	if err := r.as(name); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// reader takes a plan out of a JSON value and collects what is wrong with it.
type reader struct{ problems }

func (r *reader) plan(v *jsonValue) Plan {
	if v.kind != anObject {
		r.add("the plan is %s; must be an object with the keys %s", v.shown(), safetext.Listed(planKeys))
		return Plan{}
	}
	f := fields{r, "", v}
	p := Plan{
		Extra:          f.extra(planKeys),
		Project:        f.text("project", true),
		BranchName:     f.text("branchName", true),
		Description:    f.text("description", true),
		VerifyCommands: f.texts("verifyCommands", false),
	}
	list := f.need("userStories")
	switch {
	case list == nil:
	case list.kind != aList:
		r.add("userStories is %s; must be a list of stories", list.shown())
	case len(list.items) > maxStories:
		r.add("userStories has %d stories; must be at most %d", len(list.items), maxStories)
	default:
		for i := range list.items {
			p.Stories = append(p.Stories, r.story(i+1, &list.items[i]))
		}
		r.unique(p.Stories)
	}
	return p
}

// unique holds that no two stories have one id, also not when case is ignored: people and file systems take such ids
// for one.
func (r *reader) unique(stories []Story) {
	seen := map[string]int{}
	for i, s := range stories {
		if s.ID == "" {
			continue
		}
		key := strings.ToLower(s.ID)
		if first, ok := seen[key]; ok {
			r.add("story %s: id is also that of story number %d, %s; each story must have its own, also when case is ignored",
				s.ID, first+1, stories[first].ID)
			continue
		}
		seen[key] = i
	}
}

// extra are the members whose keys are unknown. A key that differs from a known one only by its case is none: other
// readers of JSON, our own journal's too, take the two for one.
func (f fields) extra(known []string) map[string]json.RawMessage {
	var extra map[string]json.RawMessage
	f.r.checkValue(f.where, "", f.v)
	for _, m := range f.v.members {
		if slices.Contains(known, m.key) {
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, m.key) }); i >= 0 {
			f.wrong("%s is no key, and looks like one; write it %q", safetext.Quoted(m.key), known[i])
			continue
		}
		if extra == nil {
			extra = map[string]json.RawMessage{}
		}
		var b bytes.Buffer
		if json.Compact(&b, m.value.raw) == nil {
			extra[m.key] = b.Bytes()
		}
	}
	return extra
}

// checkValue holds what every value must be, known or not: no key twice in an object, no zero byte, no half character.
// Stories are examined one by one, so that a sentence can name them.
func (r *reader) checkValue(where, path string, v *jsonValue) {
	switch v.kind {
	case aText:
		r.soundText(where, path, v.text, v.halved)
	case aList:
		for i := range v.items {
			if where == "" && path == "userStories" {
				return
			}
			r.checkValue(where, path, &v.items[i])
		}
	case anObject:
		seen := make(map[string]bool, len(v.members))
		for i := range v.members {
			m := &v.members[i]
			at := strings.TrimPrefix(path+"."+m.key, ".")
			if seen[m.key] {
				r.add("%s%s is there twice; remove one", lead(where), shortPath(at))
			}
			seen[m.key] = true
			r.soundText(where, "a key", m.key, m.halved)
			r.checkValue(where, at, &m.value)
		}
	}
}

func (r *reader) soundText(where, path, text string, halved bool) {
	if halved {
		r.add("%s%s holds half a character, an escape from \\ud800 to \\udfff without its other half; write the whole "+
			"character", lead(where), shortPath(path))
	}
	if strings.ContainsRune(text, 0) {
		r.add("%s%s holds a zero byte; leave it out", lead(where), shortPath(path))
	}
}

// shortPath is a path of keys as a message shows it: as it is when it is made of words, else quoted and cut.
func shortPath(path string) string {
	if len(path) <= 60 && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return path
	}
	return safetext.Quoted(path)
}
