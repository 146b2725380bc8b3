package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
)

// Parts of payloads as GitHub writes them, shortened to what matters and some of what does not.
const (
	demo   = `"repository":{"id":1296269,"name":"demo","full_name":"alice/demo","owner":{"login":"alice","type":"User"},"default_branch":"trunk","html_url":"https://github.com/alice/demo"}`
	alice  = `{"login":"alice","id":1,"type":"User","site_admin":false}`
	issue4 = `{"number":4,"title":"T","body":"B","state":"open","user":` + alice +
		`,"labels":[{"name":"ralph"}],"updated_at":"2026-11-21T12:00:00Z"}`
	closed4 = `{"number":4,"title":"T","body":null,"state":"closed","state_reason":"completed","user":null,"labels":[],"closed_at":"2026-11-21T12:00:00Z","updated_at":"2026-11-21T12:00:00Z"}`
	ours    = `{"number":7,"title":"P","body":null,"state":"open","draft":true,"user":` + alice +
		`,"labels":[],"head":{"ref":"ralph/issue-4","sha":"abc","repo":{"full_name":"alice/demo"}},"base":{"ref":"trunk","repo":{"full_name":"alice/demo"}},"updated_at":"2026-11-21T12:00:00Z"}`
	merged = `{"number":7,"title":"P","state":"closed","merged":true,"user":` + alice +
		`,"head":{"ref":"ralph/issue-4","repo":{"full_name":"alice/demo"}},"base":{"ref":"trunk","repo":{"full_name":"alice/demo"}}}`
	theirs = `{"number":8,"title":"P","state":"open","user":{"login":"mallory","type":"User"},"head":{"ref":"trunk","repo":{"full_name":"mallory/demo"}},"base":{"ref":"trunk","repo":{"full_name":"alice/demo"}}}`
	gone   = `{"number":9,"title":"P","state":"open","user":null,"head":{"ref":"x","repo":null},"base":{"ref":"trunk","repo":{"full_name":"alice/demo"}}}`
	line   = `{"id":11,"pull_request_review_id":5,"path":"a.go","line":3,"body":"/ralph fix this","user":` + alice +
		`,"created_at":"2026-11-21T11:00:00Z","updated_at":"2026-11-21T12:00:00Z"}`
	review = `{"id":5,"user":` + alice +
		`,"body":null,"state":"changes_requested","commit_id":"abc","submitted_at":"2026-11-21T12:00:00Z"}`
)

// delivered is one payload with what is read from it.
type delivered struct{ name, event, parts, want string }

var handmade = []delivered{
	{"a label", "issues", `"action":"labeled","label":{"name":"ralph"},"issue":` + issue4, "labeled issues.labeled #4 “ralph”"},
	{"a schedule", "schedule", `"schedule":"1 * * * *"`, "scheduled schedule"},
	{"a label taken off", "issues", `"action":"unlabeled","label":{"name":"ralph:running"},"issue":` + issue4,
		"unlabeled issues.unlabeled #4 “ralph:running”"},
	{"an issue closed, its author deleted", "issues", `"action":"closed","issue":` + closed4,
		"closed issues.closed #4 closed"},
	{"an issue edited", "issues", `"action":"edited","changes":{"body":{"from":"x"}},"issue":` + issue4,
		"other issues.edited #4"},
	{"a pull request merged", "pull_request", `"action":"closed","number":7,"pull_request":` + merged,
		"closed pull_request.closed #7 pull closed"},
	{"the same for the base's workflow", "pull_request_target", `"action":"closed","number":7,"pull_request":` + merged,
		"closed pull_request_target.closed #7 pull closed"},
	{"a label on a pull request", "pull_request",
		`"action":"labeled","number":7,"label":{"name":"ralph"},"pull_request":` + ours,
		"labeled pull_request.labeled #7 pull “ralph”"},
	{"a pull request pushed to", "pull_request", `"action":"synchronize","number":7,"pull_request":` + ours,
		"other pull_request.synchronize #7 pull"},
	{"a fork's", "pull_request", `"action":"labeled","number":8,"label":{"name":"ralph"},"pull_request":` + theirs,
		"labeled pull_request.labeled #8 pull fork “ralph”"},
	{"of a repository that is gone", "pull_request",
		`"action":"labeled","number":9,"label":{"name":"ralph"},"pull_request":` + gone,
		"labeled pull_request.labeled #9 pull fork “ralph”"},
	{"a review", "pull_request_review", `"action":"submitted","review":` + review + `,"pull_request":` + ours,
		"reviewed pull_request_review.submitted #7 pull alice changes_requested of abc"},
	{"a review dismissed", "pull_request_review", `"action":"dismissed","review":` + review + `,"pull_request":` + ours,
		"other pull_request_review.dismissed #7 pull alice changes_requested of abc"},
	{"a comment on a line", "pull_request_review_comment",
		`"action":"created","comment":` + line + `,"pull_request":` + ours,
		"commented pull_request_review_comment.created #7 pull alice inline: /ralph fix this"},
	{"a comment whose author is deleted", "issue_comment",
		`"action":"created","issue":` + issue4 + `,"comment":{"id":3,"body":"/ralph run","user":null}`,
		"commented issue_comment.created #4 : /ralph run"},
	{"a comment deleted", "issue_comment",
		`"action":"deleted","issue":` + issue4 + `,"comment":{"id":3,"body":"/ralph run","user":null}`,
		"other issue_comment.deleted #4 : /ralph run"},
	{"a workflow", "workflow_run",
		`"action":"completed","workflow_run":{"id":1,"name":"CI","head_branch":"ralph/issue-4","head_sha":"abc","conclusion":"failure","html_url":"https://github.com/x","head_repository":{"full_name":"alice/demo"}}`,
		"built workflow_run.completed CI failure ralph/issue-4 abc https://github.com/x"},
	{"a workflow that begins", "workflow_run",
		`"action":"requested","workflow_run":{"name":"CI","conclusion":null,"head_repository":{"full_name":"alice/demo"}}`,
		"other workflow_run.requested CI    "},
	{"a workflow in a fork", "workflow_run",
		`"action":"completed","workflow_run":{"name":"CI","head_branch":"ralph/issue-4","head_sha":"abc","conclusion":"success","head_repository":{"full_name":"mallory/demo"}}`,
		"built workflow_run.completed CI success ralph/issue-4 abc  fork"},
	{"a service", "check_suite",
		`"action":"completed","check_suite":{"head_branch":"ralph/issue-4","head_sha":"abc","conclusion":"timed_out","app":{"name":"Buildkite"}}`,
		"built check_suite.completed Buildkite timed_out ralph/issue-4 abc https://github.com/alice/demo/commit/abc/checks"},
	{"a service on a fork", "check_suite",
		`"action":"completed","check_suite":{"head_branch":null,"head_sha":"abc","conclusion":"success","app":{"name":"Buildkite"}}`,
		"built check_suite.completed Buildkite success  abc https://github.com/alice/demo/commit/abc/checks fork"},
	{"a dispatch by a program", "repository_dispatch",
		`"action":"ralph","branch":"trunk","client_payload":{"issue":4,"hint":"now","fresh":"true"}`,
		"dispatched repository_dispatch {Issue:4 Prompt: Plan: Hint:now Fresh:true MaxIterations:0}"},
	{"a dispatch of another type", "repository_dispatch", `"action":"deploy","client_payload":{"ref":"x"}`,
		"other repository_dispatch"},
	{"a dispatch of a type that is none", "repository_dispatch",
		`"action":"x\n::set-env name=PATH::y","client_payload":{}`, "other repository_dispatch"},
	{"a dispatch by hand", "workflow_dispatch",
		`"ref":"refs/heads/trunk","workflow":".github/workflows/ralph.yml","inputs":{"issue":"4"}`,
		"dispatched workflow_dispatch"},
}

func (d delivered) payload() string { return "{" + d.parts + "," + demo + `,"sender":` + alice + "}" }

func TestEveryShape(t *testing.T) {
	for _, d := range handmade {
		ev, err := ParseEvent(Delivery{Name: d.event, Payload: []byte(d.payload()), Repository: "alice/demo",
			TriggeringActor: "bob", At: noon})
		if err != nil {
			t.Errorf("%s: %v", d.name, err)
			continue
		}
		if got := told(ev); got != d.want {
			t.Errorf("%s:\n got %q\nwant %q", d.name, got, d.want)
		}
		if ev.Sender.Login != "alice" || ev.TriggeringActor != "bob" || ev.Repo.DefaultBranch != "trunk" {
			t.Errorf("%s: sender %q, repository %+v", d.name, ev.Sender.Login, ev.Repo)
		}
		if d.event != "pull_request" && d.event != "pull_request_target" && d.event != "issue_comment" && !ev.At.Equal(noon) {
			t.Errorf("%s: it happened at %s", d.name, ev.At)
		}
	}
}

// told is what there is in an event, in one line.
func told(ev event.Event) string {
	out := fmt.Sprintf("%s %s", ev.Kind, ev.Name)
	if i := ev.Issue; i != nil {
		out += fmt.Sprintf(" #%d", i.Number) + word(i.Pull, "pull") + word(i.Fork, "fork") + word(i.Closed, "closed")
	}
	if ev.Label != "" {
		out += " “" + ev.Label + "”"
	}
	if c := ev.Comment; c != nil {
		out += " " + c.Author.Login + word(c.Inline, "inline") + ": " + c.Body
	}
	if r := ev.Review; r != nil {
		out += fmt.Sprintf(" %s %s of %s", r.Author.Login, r.State, r.Commit)
	}
	if b := ev.Build; b != nil {
		out += fmt.Sprintf(" %s %s %s %s %s", b.Name, b.Conclusion, b.Branch, b.SHA, b.URL) + word(b.Fork, "fork")
	}
	if ev.Ask != (event.DispatchRequest{}) {
		out += fmt.Sprintf(" %+v", ev.Ask)
	}
	return out
}

func word(is bool, said string) string {
	if is {
		return " " + said
	}
	return ""
}

// TestShapesThatLackSomething: one clear error each, however the rest looks.
func TestShapesThatLackSomething(t *testing.T) {
	for _, tt := range []struct{ name, event, payload, want string }{
		{"no pull request", "pull_request", `{"action":"closed",` + demo + `}`, "no pull request"},
		{"no review", "pull_request_review", `{"action":"submitted","pull_request":` + ours + "," + demo + `}`, "no review"},
		{"no comment on a line", "pull_request_review_comment",
			`{"action":"created","pull_request":` + ours + "," + demo + `}`, "no comment"},
		{"no workflow run", "workflow_run", `{"action":"completed",` + demo + `}`, "no workflow run"},
		{"no check suite", "check_suite", `{"action":"completed",` + demo + `}`, "no check suite"},
		{"no issue", "issues", `{"action":"closed",` + demo + `}`, "no issue"},
		{"an issue without a number", "issues", `{"action":"closed","issue":{},` + demo + `}`, "no issue"},
		{"a number that is too large", "issues", `{"action":"closed","issue":{"number":1e99},` + demo + `}`,
			"cannot unmarshal number 1e99"},
		{"a number that is none", "issues", `{"action":"closed","issue":{"number":"4"},` + demo + `}`,
			"cannot unmarshal string"},
		{"an owner without a login", "issues", `{"action":"closed","issue":` + issue4 + `,"repository":{"name":"demo"}}`,
			"no repository"},
		{"a list", "issues", `[]`, "cannot unmarshal array"},
		{"not JSON", "issues", "{", "unexpected end"},
		{"no comment", "issue_comment", `{"action":"created","issue":` + issue4 + "," + demo + `}`, "no comment"},
		{"an unknown key", "repository_dispatch", `{"action":"ralph","client_payload":{"issue":4,"isue":5},` + demo + `}`,
			"client_payload (“json: unknown field \"isue\"”) is not understood; allowed: a JSON object with issue, prompt, plan, hint, fresh, max_iterations"},
		{"nothing asked", "repository_dispatch", `{"action":"ralph","client_payload":{},` + demo + `}`,
			"exactly one of them"},
	} {
		_, err := ParseEvent(Delivery{Name: tt.event, Payload: []byte(tt.payload), Repository: "alice/demo", At: noon})
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(err.Error(), "reading the "+tt.event+" event: ") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if usage := new(event.UsageError); errors.As(err, &usage) != (tt.event == "repository_dispatch") {
			t.Errorf("%s: %v is a usage error, or should be one", tt.name, err)
		}
	}
	labeled := []byte(`{"action":"labeled","issue":` + issue4 + `,"sender":null,` + demo + `}`)
	fails(t, errOf(ParseEvent(Delivery{Name: "schedule"})), "names a repository")
	fails(t, errOf(ParseEvent(Delivery{Name: "issues", Payload: labeled, Repository: "alice/other"})),
		"but this job belongs to alice/other")
	nobody, err := ParseEvent(Delivery{Name: "issues", Payload: labeled, Repository: "alice/demo"})
	if err != nil || nobody.Kind != event.Labeled || nobody.Sender.Login != "" {
		t.Errorf("without a sender: %+v, %v", nobody, err)
	}
}
