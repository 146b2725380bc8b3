package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Parse reads a tasks.json strictly: JSON without miscased keys, every field there with its type, ids unique.
// verifyCommands and a story's description, notes and dependsOn may be missing. Dependencies are read and not looked
// at, see Order. Lists that are empty are nil. The error is a *Error.
func Parse(name string, content []byte) (Plan, error) {
	file, err := readJSON(content)
	if err != nil {
		return Plan{}, &Error{Name: name, Problems: []string{err.Error()}}
	}
	return planOf(name, file)
}

// planOf is the plan that a JSON value holds.
func planOf(name string, file json.RawMessage) (Plan, error) {
	var r reader
	p := r.plan(file)
	if err := r.as(name); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// reader takes a plan out of a JSON value and collects what is wrong with it.
type reader struct{ problems }

func (r *reader) plan(file json.RawMessage) Plan {
	f := fields{r, "", members(file)}
	if f.members == nil {
		r.add("the plan is %s; must be an object with the keys %s", shown(file), safetext.Listed(planKeys))
		return Plan{}
	}
	p := Plan{
		Extra:          f.extra(planKeys),
		Project:        f.text("project", true),
		BranchName:     f.text("branchName", true),
		Description:    f.text("description", true),
		VerifyCommands: f.texts("verifyCommands", false),
	}
	var list []json.RawMessage
	f.read("userStories", true, "a list of stories", &list)
	if len(list) > maxStories {
		r.add("userStories has %d stories; must be at most %d", len(list), maxStories)
		return p
	}
	for i, story := range list {
		p.Stories = append(p.Stories, r.story(i+1, story))
	}
	r.unique(p.Stories)
	return p
}

// The keys of a plan and of a story, in the order of the template.
var (
	planKeys  = []string{"project", "branchName", "description", "verifyCommands", "userStories"}
	storyKeys = []string{"id", "title", "description", "acceptanceCriteria", "priority", "passes", "reviewStatus",
		"reviewCount",
		"reviewFeedback", "notes", "dependsOn"}
)

// story reads the n-th story, from 1.
func (r *reader) story(n int, story json.RawMessage) Story {
	f := fields{r, fmt.Sprintf("story number %d", n), members(story)}
	if f.members == nil {
		r.add("%s is %s; must be an object with the keys %s", f.where, shown(story), safetext.Listed(storyKeys))
		return Story{}
	}
	s := Story{ID: f.text("id", true)}
	switch {
	case storyIDForm.MatchString(s.ID):
		f.where = "story " + s.ID
	case strings.HasPrefix(string(f.members["id"]), `"`):
		f.wrong("id is %s; %s", safetext.Quoted(s.ID), storyIDRule)
		s.ID = ""
	}
	s.Extra = f.extra(storyKeys)
	s.Title = f.text("title", true)
	s.Description = f.text("description", false)
	s.AcceptanceCriteria = f.texts("acceptanceCriteria", true)
	const number = "a number from -1e9 to 1e9, the lower the sooner"
	if f.read("priority", true, number, &s.Priority) && math.Abs(s.Priority) > maxStoryPriority {
		f.not("priority", number)
	}
	f.read("passes", true, "true or false", &s.Passes)
	if string(f.members["reviewStatus"]) != "null" {
		f.read("reviewStatus", true, "null, "+quoted(reviewStatuses), &s.ReviewStatus)
	}
	count := fmt.Sprintf("a whole number from 0 to %d", maxReviewCount)
	if f.read("reviewCount", true, count, &s.ReviewCount) && (s.ReviewCount < 0 || s.ReviewCount > maxReviewCount) {
		f.not("reviewCount", count)
	}
	s.ReviewFeedback = f.text("reviewFeedback", true)
	s.Notes = f.text("notes", false)
	s.DependsOn = f.texts("dependsOn", false)
	if s.Passes && strings.TrimSpace(s.Notes) == "" {
		f.wrong("passes is true and notes is empty; say in notes what was done")
	}
	return s
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

// fields are an object's members and how the object is called in a message.
type fields struct {
	r       *reader
	where   string // "story US-001"; empty: the plan itself
	members map[string]json.RawMessage
}

// members are those of an object; nil for any other value. If a key appears twice, its last value counts.
func members(object json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &all)
	return all
}

var storyIDForm = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const storyIDRule = "must be letters, digits, dots, dashes and underscores, at most 64, as in US-001"

// maxReviewCount bounds a review count: a file with more was not counted up by reviews.
const maxReviewCount = 1000

// maxStoryPriority bounds a priority, either way.
const maxStoryPriority = 1e9

func (f fields) wrong(format string, args ...any) {
	where := f.where
	if where != "" {
		where += ": "
	}
	f.r.add("%s%s", where, fmt.Sprintf(format, args...))
}

// not says that a member is something else than what is allowed.
func (f fields) not(key, must string) {
	f.wrong("%s is %s; must be %s", key, shown(f.members[key]), must)
}

// read reads a member, and reports whether it is there and of the kind of into. must says what is allowed.
func (f fields) read(key string, required bool, must string, into any) bool {
	value, there := f.members[key]
	switch {
	case !there && required && f.where == "":
		f.wrong("%s is missing; every plan has it", key)
	case !there && required:
		f.wrong("%s is missing; every story has it", key)
	case there && (string(value) == "null" || json.Unmarshal(value, into) != nil):
		f.not(key, must)
		return false
	}
	return there
}

func (f fields) text(key string, required bool) (text string) {
	f.read(key, required, "a string", &text)
	if strings.ContainsRune(text, 0) {
		f.wrong("%s holds a zero byte; leave it out", key)
	}
	return text
}

// texts is a list of strings that say something. It must be there, and hold one, when it is required.
func (f fields) texts(key string, required bool) (out []string) {
	var items []json.RawMessage
	if f.read(key, required, "a list of strings", &items) && required && len(items) == 0 {
		f.wrong("%s is empty; must be a list with at least one string", key)
	}
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", key, i+1)
		text := fields{f.r, f.where, map[string]json.RawMessage{at: item}}.text(at, true)
		if item[0] == '"' && strings.TrimSpace(text) == "" {
			f.wrong("%s is empty; give it a text, or leave it out", at)
		}
		out = append(out, text)
	}
	return out
}

// extra are the members whose keys are unknown. A key that differs from a known one only by its case is an error: other
// readers of JSON, our own journal's too, do not distinguish the two.
func (f fields) extra(known []string) (extra map[string]json.RawMessage) {
	for _, key := range slices.Sorted(maps.Keys(f.members)) {
		if slices.Contains(known, key) {
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, key) }); i >= 0 {
			f.wrong("%s is no key, and looks like one; write it %q", safetext.Quoted(key), known[i])
			continue
		}
		if extra == nil {
			extra = map[string]json.RawMessage{}
		}
		var b bytes.Buffer
		if json.Compact(&b, f.members[key]) == nil {
			extra[key] = b.Bytes()
		}
	}
	return extra
}

// reviewStatuses are those that are written as a string.
var reviewStatuses = []ReviewStatus{NeedsReview, ChangesRequested, Approved}

// quoted is `"a", "b" and "c"`.
func quoted[T ~string](words []T) string {
	return safetext.Listed(safetext.Map(words, func(w T) string { return strconv.Quote(string(w)) }))
}

// shown is a value as a message reports it: "true" (a string).
func shown(value json.RawMessage) string {
	var text string
	switch {
	case value[0] == '{':
		return "an object"
	case value[0] == '[':
		return "a list"
	case string(value) == "null" || value[0] == 't' || value[0] == 'f':
		return string(value)
	case json.Unmarshal(value, &text) == nil:
		return safetext.Quoted(text) + " (a string)"
	}
	return safetext.Shorten(string(value), 40) + " (a number)"
}

// The bounds of a plan's file. What is beyond them was not written by anyone who wants work done.
const (
	maxPlan        = 4 << 20 // bytes
	maxPlanNesting = 64      // values in values
	maxStories     = 1000
)

// readJSON reads a text that holds one JSON value and nothing else, as RFC 8259 has it: without a byte order mark,
// comments, commas after the last item, NaN. The error is one sentence without the file's name.
func readJSON(content []byte) (file json.RawMessage, err error) {
	switch {
	case len(content) > maxPlan:
		return nil, fmt.Errorf("the file has %d bytes; must be at most %d", len(content), maxPlan)
	case len(bytes.TrimSpace(content)) == 0:
		return nil, errors.New("the file is empty; it must hold a JSON object with project, branchName, description and " +
			"userStories")
	case bytes.HasPrefix(content, []byte("\ufeff")):
		return nil, errors.New("the file begins with a byte order mark; save it as UTF-8 without one")
	case !utf8.Valid(content):
		line, col := placeIn(content, safetext.FirstInvalid(content))
		return nil, fmt.Errorf("line %d, column %d is not UTF-8; save the file as UTF-8", line, col)
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, notJSON(content, err)
	}
	decoder, deep := json.NewDecoder(bytes.NewReader(content)), 0
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			deep++
		case json.Delim('}'), json.Delim(']'):
			deep--
		}
		if deep > maxPlanNesting { // indented, it would have no bound
			line, col := placeIn(content, int(decoder.InputOffset())-1)
			return nil, fmt.Errorf("line %d, column %d: values are nested more than %d deep; a plan has four levels", line,
				col, maxPlanNesting)
		}
	}
	return file, nil
}

func notJSON(content []byte, err error) error {
	var wrong *json.SyntaxError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("this is not JSON: %w", err)
	}
	line, col := placeIn(content, int(wrong.Offset)-1)
	return fmt.Errorf("line %d, column %d: this is not JSON: %w; must be one object, without comments and without a "+
		"comma after the last item",
		line, col, err)
}

// placeIn is the line and the column of a byte, from 1; columns count bytes.
func placeIn(content []byte, at int) (line, col int) {
	before := content[:min(max(at, 0), len(content))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
