package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
)

const (
	where    = `"repository":{"name":"demo","full_name":"alice/demo","owner":{"login":"alice"},"default_branch":"main"}`
	person   = `"sender":{"login":"bob","type":"User"}`
	place    = where + `,` + person + `,"installation":{"id":70}`
	anIssue  = `"issue":{"number":42,"title":"Add it","state":"open","user":{"login":"eve"}}`
	aComment = `{"action":"created",` + anIssue + `,"comment":{"id":1,"body":"BODY","user":{"login":"bob"},` +
		`"created_at":"2026-11-23T00:00:00Z","updated_at":"2026-11-23T00:00:00Z"},` + place + `}`
)

// TestDecide: what a delivery comes to before GitHub is asked anything.
func TestDecide(t *testing.T) {
	labelled := `{"action":"labeled",` + anIssue + `,"label":{"name":"LABEL"},` + place + `}`
	for _, c := range []struct {
		name, event, payload string
		step, why, key       string
		quick, stops         bool
	}{
		{"the label", "issues", strings.Replace(labelled, "LABEL", "ralph", 1), stepHanded, "", "alice/demo#42", false, false},
		{"another label", "issues", strings.Replace(labelled, "LABEL", "bug", 1), stepNothing, "the label is “bug”", "", false,
			false},
		{"a comment", "issue_comment", strings.Replace(aComment, "BODY", "hello", 1), stepNothing,
			"the comment does not begin with", "", false, false},
		{"a retry", "issue_comment", strings.Replace(aComment, "BODY", "/ralph retry", 1), stepHanded, "", "d-1", false, false},
		{"a stop does not wait", "issue_comment", strings.Replace(aComment, "BODY", "/ralph stop", 1), stepHanded, "", "d-1",
			true, true},
		{"help", "issue_comment", strings.Replace(aComment, "BODY", "/ralph help", 1), stepHanded, "", "d-1", true, false},
		{"what is no command is answered", "issue_comment", strings.Replace(aComment, "BODY", "/ralph dance", 1), stepHanded, "",
			"d-1", true, false},
		{"no installation", "issues", strings.Replace(strings.Replace(labelled, "LABEL", "ralph", 1),
			`,"installation":{"id":70}`, "", 1), stepUnread, "names no installation", "", false, false},
		{"a form", "issues", "payload=%7B%7D", stepUnread, "choose the content type application/json", "", false, false},
		{"no JSON", "issues", "{", stepUnread, "no JSON object", "", false, false},
		{"no repository", "issues", `{"action":"labeled"}`, stepUnread, "it holds no repository", "", false, false},
		{"an installation", "installation", `{"action":"created","installation":{"id":70}}`, stepNothing,
			"asked of GitHub when it matters", "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := delivered("d-1", c.event, []byte(c.payload), time.Unix(1_800_000_000, 0))
			v := decide(d, event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"},
				func(string, string) bool { return false })
			if v.step != c.step || !strings.Contains(v.why, c.why) || v.asks() != (c.step == stepHanded) {
				t.Fatalf("%+v", v)
			}
			run := v.run(d)
			if v.asks() && (run.Key != c.key || v.quick != c.quick || v.stops != c.stops || run.Installation != 70 ||
				run.Repository != "alice/demo" || run.Subject != "#42" || run.Person != "bob") {
				t.Errorf("the run is %+v of %+v", run, v)
			}
		})
	}
}
