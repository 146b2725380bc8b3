package event

import (
	"fmt"
	"strconv"
	"strings"
)

// Origin names what on GitHub somebody asked with, so that whoever knows only the name can read it there again: a
// comment by its id, a comment on a line by its id, a review by its id and the pull request's number, or a label by its
// name and the number of what it is on. It is no proof of anything.
type Origin struct {
	Comment, Line, Review int64
	Number                int
	Label                 string
}

// OriginOf is that of an event; ok is false for what nobody can read again, such as another workflow's end.
func OriginOf(ev Event) (o Origin, ok bool) {
	number := ev.On
	if number == 0 && ev.Issue != nil {
		number = ev.Issue.Number
	}
	switch {
	case ev.Kind == Commented && ev.Comment != nil && ev.Comment.Inline:
		return Origin{Line: ev.Comment.ID}, true
	case ev.Kind == Commented && ev.Comment != nil:
		return Origin{Comment: ev.Comment.ID}, true
	case ev.Kind == Reviewed && ev.Review != nil && number != 0:
		return Origin{Review: ev.Review.ID, Number: number}, true
	case ev.Kind == Labeled && number != 0:
		return Origin{Label: ev.Label, Number: number}, true
	}
	return o, false
}

// String is what ParseOrigin reads: "comment:123", "line:123", "review:43:567", "label:42:ralph".
func (o Origin) String() string {
	switch {
	case o.Comment != 0:
		return fmt.Sprintf("comment:%d", o.Comment)
	case o.Line != 0:
		return fmt.Sprintf("line:%d", o.Line)
	case o.Review != 0:
		return fmt.Sprintf("review:%d:%d", o.Number, o.Review)
	}
	return fmt.Sprintf("label:%d:%s", o.Number, o.Label)
}

// OriginForms are the forms of ParseOrigin, for errors.
const OriginForms = "comment:ID, line:ID, review:PULL_REQUEST:ID or label:ISSUE:NAME"

// ParseOrigin reads the text of an origin. ok is false for anything else.
func ParseOrigin(text string) (o Origin, ok bool) {
	kind, rest, _ := strings.Cut(text, ":")
	number, after, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return Origin{}, false
	}
	switch kind {
	case "comment":
		o = Origin{Comment: n}
	case "line":
		o = Origin{Line: n}
	case "review":
		id, err := strconv.ParseInt(after, 10, 64)
		if err != nil || id <= 0 {
			return Origin{}, false
		}
		o = Origin{Review: id, Number: int(n)}
	case "label":
		o = Origin{Label: after, Number: int(n)}
	}
	return o, o != Origin{} && o.String() == text && (kind != "label" || after != "") && n < 1<<53
}
