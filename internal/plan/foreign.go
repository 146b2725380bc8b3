package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Read reads a plan that a person wrote: as Parse, or with foreign set a prd.json of the common layout, whose missing
// review fields are filled in. Its order has been checked, and it has a story.
//
// The common layout is that of a plan without any of reviewStatus, reviewCount and reviewFeedback. A story that passes
// there was done before there were reviews: it becomes approved, with 0 reviews. Ids that are whole numbers become
// strings. What may be missing besides: branchName (made of the project), description, priority (the story's place),
// passes and notes.
func Read(name string, content []byte) (p Plan, foreign bool, err error) {
	v, err := readJSON(content)
	if err != nil {
		return Plan{}, false, &Error{Name: name, Problems: []string{err.Error()}}
	}
	if foreign = isForeign(v); foreign {
		fillForeign(v)
	}
	if p, err = planOf(name, v); err != nil {
		return Plan{}, foreign, err
	}
	if len(p.Stories) == 0 {
		return Plan{}, foreign, &Error{Name: name,
			Problems: []string{"userStories is empty; a plan needs at least one story"}}
	}
	if _, err := p.Order(); err != nil {
		return Plan{}, foreign, &Error{Name: name, Problems: []string{err.Error()}}
	}
	return p, foreign, nil
}

// isForeign reports whether no story has a field of reviews.
func isForeign(v *jsonValue) bool {
	list := v.get("userStories")
	if list == nil || len(list.items) == 0 {
		return false
	}
	return !slices.ContainsFunc(list.items, func(s jsonValue) bool {
		return s.get("reviewStatus") != nil || s.get("reviewCount") != nil || s.get("reviewFeedback") != nil
	})
}

// fillForeign adds to a plan of the common layout what it does not have.
func fillForeign(v *jsonValue) {
	if project := v.get("project"); project != nil && project.kind == aText {
		v.missing("branchName", jsonText("ralph/"+safetext.Slug(project.text, 40)))
	}
	v.missing("description", jsonText(""))
	list := v.get("userStories")
	for i := range list.items {
		if list.items[i].kind == anObject {
			list.items[i].fillStory(i + 1)
		}
	}
}

// dependencies are the keys that other tools have for dependsOn.
var dependencies = []string{"dependencies", "depends_on", "blockedBy", "blocked_by", "requires"}

func (v *jsonValue) fillStory(place int) {
	v.get("id").asText()
	for i := range v.members {
		if m := &v.members[i]; slices.Contains(dependencies, m.key) && m.value.kind == aList && v.get("dependsOn") == nil {
			m.key = "dependsOn"
		}
	}
	if on := v.get("dependsOn"); on != nil {
		for i := range on.items {
			on.items[i].asText()
		}
	}
	v.missing("priority", jsonValue{kind: aNumber, text: fmt.Sprint(place)})
	v.missing("passes", jsonValue{kind: aTruth, text: "false"})
	v.missing("notes", jsonText(""))
	v.missing("reviewCount", jsonValue{kind: aNumber, text: "0"})
	v.missing("reviewFeedback", jsonText(""))
	if passes := v.get("passes"); passes.kind != aTruth || passes.text != "true" {
		v.missing("reviewStatus", jsonValue{kind: nothing})
		return
	}
	v.missing("reviewStatus", jsonText(string(Approved)))
	if notes := v.get("notes"); notes.kind == aText && strings.TrimSpace(notes.text) == "" {
		*notes = jsonText("Passed before reviews.")
	}
}

// missing adds a member unless its key exists.
func (v *jsonValue) missing(key string, value jsonValue) {
	if v.get(key) == nil {
		v.members = append(v.members, jsonMember{key: key, value: value})
	}
}

// asText makes a whole number a string: 1 is the id "1".
func (v *jsonValue) asText() {
	if v == nil || v.kind != aNumber {
		return
	}
	if n, err := strconv.ParseUint(v.text, 10, 32); err == nil {
		*v = jsonText(fmt.Sprint(n))
	}
}

func jsonText(s string) jsonValue { return jsonValue{kind: aText, text: s} }
