package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestHostileEdits: what an agent may try on the text of tasks.json to get a story passed. In no mode is one approved
// by it, and none is lost. What is no JSON, or has a field of a wrong type, is in the cases of Parse. The plan has a story
// for every mode; each edit is made by every one of them. Most are the lines of testdata/plans/edits.txt: a name, the story,
// nothing where it is the plan, what is replaced there and with what, parted by tabs.
func TestHostileEdits(t *testing.T) {
	plan := planOfStories(
		storyAt("US-001", true, Approved, 1, ""),
		storyAt("US-002", false, Unreviewed, 0, ""),
		storyAt("US-003", false, NeedsReview, 1, ""),
		storyAt("US-004", false, ChangesRequested, 2, "mend it"))
	text := string(plan.Marshal())
	// in the story US-002, or another, or in the plan
	in := func(id, old, with string) string {
		at := 0
		if id != "" {
			at = strings.Index(text, `"id": "`+id+`"`)
		}
		if at < 0 || !strings.Contains(text[at:], old) {
			t.Fatalf("%s has no %s", id, old)
		}
		return text[:at] + strings.Replace(text[at:], old, with, 1)
	}
	object := func(id string) string { // a story as it stands in the text
		at := strings.Index(text, `"id": "`+id+`"`)
		from := strings.LastIndex(text[:at], "{")
		return text[from : at+strings.Index(text[at:], "\n    }")+len("\n    }")]
	}
	const notPassed = `"passes": false`
	const approved = `"passes": true, "reviewStatus": "approved"`
	const unreviewed = `"passes": false,
      "reviewStatus": null`
	edits := map[string]string{
		"passes and approved": in("US-002", unreviewed, approved),
		"passes, approved, notes": strings.Replace(in("US-002", unreviewed, approved), `"notes": ""`,
			`"notes": "Done."`, 1),
		"approved by the cap's words": in("US-003", `"passes": false,
      "reviewStatus": "needs_review",
      "reviewCount": 1,
      "reviewFeedback": "",
      "notes": ""`, approved+`, "reviewCount": 2, "reviewFeedback": "[AUTO-APPROVED AT CAP] x", "notes": "n"`),
		"approved without a count": in("US-003", `"passes": false,
      "reviewStatus": "needs_review",
      "reviewCount": 1,
      "reviewFeedback": "",
      "notes": ""`, approved+`, "reviewCount": 1, "reviewFeedback": "", "notes": "n"`),
		"swapped ids":          byPlace(text),
		"stories as an object": in("", `"userStories": [`, `"userStories": {"0": [`) + "}",
		"no stories":           text[:strings.Index(text, `"userStories"`)] + `"userStories": []}`,
		"one story":            text[:strings.Index(text, `"userStories"`)] + `"userStories": [` + object("US-001") + `]}`,
		"stories in a story":   in("US-002", notPassed, notPassed+`, "userStories": [`+object("US-001")+`]`),
		"states in another order": strings.Replace(strings.Replace(text, object("US-001"), "@", 1), object("US-002"),
			object("US-001"), 1),
		"a story twice": in("", object("US-002"),
			object("US-002")+","+strings.Replace(object("US-001"), "US-001", "US-002", 2)),
	}
	edits["states in another order"] = strings.Replace(edits["states in another order"], "@", object("US-002"), 1)
	edits["states by place"] = byPlace(edits["states in another order"])
	for line := range strings.Lines(string(fileOf(t, "edits.txt"))) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		edits[row[0]] = in(row[1], row[2], row[3])
	}
	for name, content := range edits {
		if content == text {
			t.Errorf("%s: changes nothing", name)
		}
		after, err := Parse("tasks.json", []byte(content))
		if err != nil {
			if problems := problemsOf(t, err); len(problems) == 0 || strings.Contains(err.Error(), "\n\n") {
				t.Errorf("%s: %v", name, err)
			}
			continue // the harness puts back what it had
		}
		for _, m := range modes {
			for _, given := range plan.Stories {
				got, broken := Accept(plan, after, given.ID, m, Rules{ReviewCap: 5})
				if problem := harm(plan, got); problem != "" {
					t.Errorf("%s, %s of %s: %s; %q", name, m, given.ID, problem, told(broken))
				}
			}
		}
	}
}

// harm is what a plan has lost against another, or passed without a review.
func harm(before, after Plan) string {
	for _, was := range before.Stories {
		is := after.Story(was.ID)
		switch {
		case is == nil:
			return was.ID + " is lost"
		case is.Title != was.Title:
			return was.ID + " has become another story"
		}
	}
	for _, is := range after.Stories {
		was := before.Story(is.ID)
		if (is.Passes || is.ReviewStatus == Approved) && (was == nil || was.standing() != is.standing()) {
			return fmt.Sprintf("%s stands at %+v", is.ID, is.standing())
		}
	}
	if _, err := Parse("tasks.json", after.Marshal()); err != nil {
		return err.Error()
	}
	return ""
}

// byPlace gives the first two stories the ids of their places, so that their standing is swapped.
func byPlace(text string) string {
	return strings.NewReplacer(`"id": "US-001"`, `"id": "US-002"`, `"id": "US-002"`, `"id": "US-001"`).Replace(text)
}
