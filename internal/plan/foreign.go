package plan

import (
	"encoding/json"
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
	file, err := readJSON(content)
	if err != nil {
		return Plan{}, false, &Error{Name: name, Problems: []string{err.Error()}}
	}
	all := members(file)
	var stories []json.RawMessage
	if foreign = json.Unmarshal(all["userStories"], &stories) == nil && isForeign(stories); foreign {
		fillForeign(all, stories)
		file, _ = marshal(all, nil)
	}
	if p, err = planOf(name, file); err != nil {
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
func isForeign(stories []json.RawMessage) bool {
	return len(stories) > 0 && !slices.ContainsFunc(stories, func(story json.RawMessage) bool {
		s := members(story)
		return s["reviewStatus"] != nil || s["reviewCount"] != nil || s["reviewFeedback"] != nil
	})
}

// fillForeign adds to a plan of the common layout what it does not have.
func fillForeign(plan map[string]json.RawMessage, stories []json.RawMessage) {
	var project string
	if json.Unmarshal(plan["project"], &project) == nil {
		missing(plan, "branchName", asJSON("ralph/"+safetext.Slug(project, 40)))
	}
	missing(plan, "description", `""`)
	for i := range stories {
		if story := members(stories[i]); story != nil {
			fillStory(story, i+1)
			stories[i], _ = marshal(story, nil)
		}
	}
	plan["userStories"], _ = marshal(stories, nil)
}

// dependencies are the keys that other tools have for dependsOn.
var dependencies = []string{"dependencies", "depends_on", "blockedBy", "blocked_by", "requires"}

func fillStory(story map[string]json.RawMessage, place int) {
	for _, key := range dependencies {
		if list := story[key]; list != nil && list[0] == '[' && story["dependsOn"] == nil {
			story["dependsOn"] = list
			delete(story, key)
		}
	}
	var on []json.RawMessage
	if json.Unmarshal(story["dependsOn"], &on) == nil && on != nil {
		for i := range on {
			on[i] = idText(on[i])
		}
		story["dependsOn"], _ = marshal(on, nil)
	}
	if id := story["id"]; id != nil {
		story["id"] = idText(id)
	}
	missing(story, "priority", strconv.Itoa(place))
	missing(story, "passes", "false")
	missing(story, "notes", `""`)
	missing(story, "reviewCount", "0")
	missing(story, "reviewFeedback", `""`)
	if string(story["passes"]) != "true" {
		missing(story, "reviewStatus", "null")
		return
	}
	missing(story, "reviewStatus", asJSON(string(Approved)))
	var notes string
	if json.Unmarshal(story["notes"], &notes) == nil && strings.TrimSpace(notes) == "" {
		story["notes"] = json.RawMessage(`"Passed before reviews."`)
	}
}

// missing adds a member unless its key exists.
func missing(object map[string]json.RawMessage, key, value string) {
	if object[key] == nil {
		object[key] = json.RawMessage(value)
	}
}

// idText makes a whole number a string: 1 is the id "1".
func idText(id json.RawMessage) json.RawMessage {
	if n, err := strconv.ParseUint(string(id), 10, 32); err == nil {
		return json.RawMessage(asJSON(strconv.FormatUint(n, 10)))
	}
	return id
}
