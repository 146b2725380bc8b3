package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/regex"
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
	list := f.member("userStories", true, "a list of stories", is(aList))
	switch {
	case list == nil:
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

// extra are the members whose keys are unknown. A key that differs from a known one only by its case is an error: other
// readers of JSON, our own journal's too, do not distinguish the two.
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

// reader takes a plan out of a JSON value and collects what is wrong with it.
type reader struct{ problems }

// fields are an object's members and how the object is called in a message.
type fields struct {
	r     *reader
	where string // "story US-001"; empty: the plan itself
	v     *jsonValue
}

var storyIDForm = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const storyIDRule = "must be letters, digits, dots, dashes and underscores, at most 64, as in US-001"

// maxReviewCount bounds a review count: a file with more was not counted up by reviews.
const maxReviewCount = 1000

// maxStoryPriority bounds a priority, either way.
const maxStoryPriority = 1e9

func (f fields) wrong(format string, args ...any) {
	f.r.add("%s%s", lead(f.where), fmt.Sprintf(format, args...))
}

// member is a member of a kind; nil if it does not exist or has another kind. must says what is allowed.
func (f fields) member(key string, required bool, must string, ok func(v *jsonValue) bool) *jsonValue {
	v := f.v.get(key)
	switch {
	case v == nil && required && f.where == "":
		f.wrong("%s is missing; every plan has it", key)
	case v == nil && required:
		f.wrong("%s is missing; every story has it", key)
	case v != nil && !ok(v):
		f.wrong("%s is %s; must be %s", key, v.shown(), must)
		return nil
	}
	return v
}

func is(k kind) func(*jsonValue) bool { return func(v *jsonValue) bool { return v.kind == k } }

func (f fields) text(key string, required bool) string {
	if v := f.member(key, required, "a string", is(aText)); v != nil {
		return v.text
	}
	return ""
}

// texts is a list of strings that say something. It must be there, and hold one, when it is required.
func (f fields) texts(key string, required bool) []string {
	v := f.member(key, required, "a list of strings", is(aList))
	if v == nil {
		return nil
	}
	if required && len(v.items) == 0 {
		f.wrong("%s is empty; must be a list with at least one string", key)
	}
	var out []string
	for i, item := range v.items {
		switch {
		case item.kind != aText:
			f.wrong("%s[%d] is %s; must be a string", key, i+1, item.shown())
		case strings.TrimSpace(item.text) == "":
			f.wrong("%s[%d] is empty; give it a text, or leave it out", key, i+1)
		}
		out = append(out, item.text)
	}
	return out
}

func (f fields) id() string {
	id := f.text("id", true)
	if v := f.v.get("id"); v != nil && v.kind == aText && !storyIDForm.MatchString(id) {
		f.wrong("id is %s; %s", safetext.Quoted(id), storyIDRule)
		return ""
	}
	return id
}

func (f fields) priority() (n float64) {
	f.member("priority", true, "a number from -1e9 to 1e9, the lower the sooner", func(v *jsonValue) bool {
		of, err := strconv.ParseFloat(v.text, 64)
		ok := v.kind == aNumber && err == nil && math.Abs(of) <= maxStoryPriority
		if ok {
			n = of
		}
		return ok
	})
	return n
}

func (f fields) passes() bool {
	v := f.member("passes", true, "true or false", is(aTruth))
	return v != nil && v.text == "true"
}

func (f fields) reviewStatus() ReviewStatus {
	v := f.member("reviewStatus", true, "null, "+quoted(reviewStatuses), func(v *jsonValue) bool {
		return v.kind == nothing || v.kind == aText && slices.Contains(reviewStatuses, ReviewStatus(v.text))
	})
	if v == nil {
		return Unreviewed
	}
	return ReviewStatus(v.text) // of null ""
}

func (f fields) reviewCount() (n int) {
	f.member("reviewCount", true, fmt.Sprintf("a whole number from 0 to %d", maxReviewCount), func(v *jsonValue) bool {
		of, err := strconv.Atoi(v.text)
		ok := v.kind == aNumber && err == nil && of >= 0 && of <= maxReviewCount && strconv.Itoa(of) == v.text
		if ok {
			n = of
		}
		return ok
	})
	return n
}

// reviewStatuses are those that are written as a string.
var reviewStatuses = []ReviewStatus{NeedsReview, ChangesRequested, Approved}

// quoted is `"a", "b" and "c"`.
func quoted[T ~string](words []T) string {
	return safetext.Listed(safetext.Map(words, func(w T) string { return strconv.Quote(string(w)) }))
}

func lead(where string) string {
	if where == "" {
		return ""
	}
	return where + ": "
}

// The bounds of a plan's file. What is beyond them was not written by anyone who wants work done.
const (
	maxPlan        = 4 << 20 // bytes
	maxPlanNesting = 64      // values in values
	maxPlanValues  = 100_000
	maxStories     = 1000
)

// kind is what a value of a JSON text is, as messages say it.
type kind string

const (
	nothing  kind = "nothing"
	aText    kind = "a text"
	aNumber  kind = "a number"
	aTruth   kind = "true or false"
	aList    kind = "a list"
	anObject kind = "an object"
)

// jsonValue is one value of a JSON text. Unlike encoding/json it keeps every member of an object, in their order and
// with their case.
type jsonValue struct {
	kind    kind
	text    string // of a string what it says, of a number and a truth how it is written
	halved  bool   // of a string: an escape in it is half a character, \ud800
	raw     []byte
	members []jsonMember
	items   []jsonValue
}

type jsonMember struct {
	key    string
	halved bool
	value  jsonValue
}

// get is the first member of a name; nil if it does not exist.
func (v *jsonValue) get(key string) *jsonValue {
	for i := range v.members {
		if v.members[i].key == key {
			return &v.members[i].value
		}
	}
	return nil
}

// shown is a value as a message reports it: "true" (a string).
func (v *jsonValue) shown() string {
	switch v.kind {
	case aText:
		return safetext.Quoted(v.text) + " (a string)"
	case aNumber:
		if len(v.text) > 40 {
			return v.text[:40] + "… (a number)"
		}
		return v.text + " (a number)"
	case aTruth:
		return v.text
	case nothing:
		return "null"
	}
	return string(v.kind)
}

// readJSON reads a text that holds one JSON value and nothing else, as RFC 8259 has it: without a byte order mark,
// comments, commas after the last item, NaN. The error is one sentence without the file's name.
func readJSON(content []byte) (*jsonValue, error) {
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
	var whole json.RawMessage
	if err := json.Unmarshal(content, &whole); err != nil {
		return nil, notJSON(content, err)
	}
	r := jsonReader{text: content, decoder: json.NewDecoder(bytes.NewReader(content))}
	r.decoder.UseNumber()
	v, err := r.value(0)
	return &v, err
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

// jsonReader takes a text apart of which is known that it is JSON.
type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	values  int
}

func (r *jsonReader) value(depth int) (v jsonValue, err error) {
	from := int(r.decoder.InputOffset())
	from += len(r.text[from:]) - len(bytes.TrimLeft(r.text[from:], " \n\r\t,:"))
	if r.values++; r.values > maxPlanValues {
		return v, fmt.Errorf("the file holds more than %d values; must be at most that many", maxPlanValues)
	}
	if depth > maxPlanNesting {
		line, col := placeIn(r.text, from)
		return v, fmt.Errorf("line %d, column %d: values are nested more than %d deep; a plan has four levels", line, col,
			maxPlanNesting)
	}
	token, err := r.decoder.Token()
	switch t := token.(type) {
	case json.Delim:
		if v.kind = aList; t == '{' {
			v.kind = anObject
		}
		err = r.inside(&v, depth)
	case string:
		v.kind, v.text, v.halved = aText, t, halfCharacter(r.text[from:r.decoder.InputOffset()])
	case json.Number:
		v.kind, v.text = aNumber, t.String()
	case bool:
		v.kind, v.text = aTruth, strconv.FormatBool(t)
	default:
		v.kind = nothing
	}
	v.raw = r.text[from:r.decoder.InputOffset()]
	return v, err
}

// inside reads the members of an object or the items of a list, to its end.
func (r *jsonReader) inside(v *jsonValue, depth int) error {
	for r.decoder.More() {
		key := jsonValue{}
		if v.kind == anObject {
			r.values-- // a key does not count
			var err error
			if key, err = r.value(depth); err != nil {
				return err
			}
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if v.kind == anObject {
			v.members = append(v.members, jsonMember{key.text, key.halved, value})
		} else {
			v.items = append(v.items, value)
		}
	}
	_, err := r.decoder.Token()
	return err
}

// halfCharacter reports whether an escape names one half of a surrogate pair without the other, which no text can hold.
func halfCharacter(quoted []byte) bool {
	unit := func(at int) int64 { // the UTF-16 unit that is escaped there, or -1
		if at+6 > len(quoted) || quoted[at] != '\\' || quoted[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseInt(string(quoted[at+2:at+6]), 16, 32)
		if err != nil {
			return -1
		}
		return n
	}
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		switch n := unit(i); {
		case n < 0xD800 || n > 0xDFFF: // another escape; skip what follows the backslash, which may be one
			i++
		case n >= 0xDC00 || unit(i+6) < 0xDC00 || unit(i+6) > 0xDFFF:
			return true
		default:
			i += 11
		}
	}
	return false
}
