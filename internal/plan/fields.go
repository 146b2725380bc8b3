package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

var storyIDForm = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const storyIDRule = "must be letters, digits, dots, dashes and underscores, at most 64, as in US-001"

// maxReviewCount bounds a review count: a file with more was not counted up by reviews.
const maxReviewCount = 1000

// maxStoryPriority bounds a priority, either way.
const maxStoryPriority = 1e9

// fields are an object's members and how the object is called in a message.
type fields struct {
	r     *reader
	where string // "story US-001"; empty: the plan itself
	v     *jsonValue
}

func (f fields) wrong(format string, args ...any) {
	f.r.add("%s%s", lead(f.where), fmt.Sprintf(format, args...))
}

// need is a member that must be there.
func (f fields) need(key string) *jsonValue {
	v := f.v.get(key)
	if v == nil {
		f.wrong("%s is missing; every %s has it", key, f.called())
	}
	return v
}

func (f fields) called() string {
	if f.where == "" {
		return "plan"
	}
	return "story"
}

func (f fields) member(key string, required bool) *jsonValue {
	if required {
		return f.need(key)
	}
	return f.v.get(key)
}

func (f fields) text(key string, required bool) string {
	v := f.member(key, required)
	if v == nil {
		return ""
	}
	if v.kind != aText {
		f.wrong("%s is %s; must be a string", key, v.shown())
	}
	return v.text
}

// texts is a list of strings that say something. It must be there, and hold one, when it is required.
func (f fields) texts(key string, required bool) []string {
	v := f.member(key, required)
	if v == nil {
		return nil
	}
	if v.kind != aList {
		f.wrong("%s is %s; must be a list of strings", key, v.shown())
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
	v := f.need("id")
	switch {
	case v == nil:
		return ""
	case v.kind != aText:
		f.wrong("id is %s; must be a string", v.shown())
		return ""
	case !storyIDForm.MatchString(v.text):
		f.wrong("id is %s; %s", safetext.Quoted(v.text), storyIDRule)
		return ""
	}
	return v.text
}

func (f fields) priority() float64 {
	v := f.need("priority")
	if v == nil {
		return 0
	}
	n, err := strconv.ParseFloat(v.text, 64)
	if v.kind != aNumber || err != nil || math.Abs(n) > maxStoryPriority {
		f.wrong("priority is %s; must be a number from -1e9 to 1e9, the lower the sooner", v.shown())
		return 0
	}
	return n
}

func (f fields) passes() bool {
	v := f.need("passes")
	if v == nil {
		return false
	}
	if v.kind != aTruth {
		f.wrong("passes is %s; must be true or false", v.shown())
		return false
	}
	return v.text == "true"
}

func (f fields) reviewStatus() ReviewStatus {
	v := f.need("reviewStatus")
	if v == nil || v.kind == nothing {
		return Unreviewed
	}
	if s := ReviewStatus(v.text); v.kind == aText && slices.Contains(reviewStatuses, s) {
		return s
	}
	f.wrong("reviewStatus is %s; must be null, %s", v.shown(), quoted(reviewStatuses))
	return Unreviewed
}

var wholeNumber = regex.Lazy(`^(0|[1-9][0-9]{0,3})$`)

func (f fields) reviewCount() int {
	v := f.need("reviewCount")
	if v == nil {
		return 0
	}
	if v.kind == aNumber && wholeNumber.MatchString(v.text) {
		if n, err := strconv.Atoi(v.text); err == nil && n <= maxReviewCount {
			return n
		}
	}
	f.wrong("reviewCount is %s; must be a whole number from 0 to %d", v.shown(), maxReviewCount)
	return 0
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
