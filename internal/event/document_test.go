package event

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsHaveTheTables: the generated tables of the pages are those of the rules.
func TestDocumentsHaveTheTables(t *testing.T) {
	for document, tables := range map[string]map[string]string{
		"../../docs/commands.md": {"commands": HelpText("/ralph"), "who": whoTable()},
		"../../docs/internals/requests.md": {
			"asking": askingTable(), "standing": standingTable(), "rules": rulesTable(),
		},
	} {
		raw, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		for name, made := range tables {
			block := regexp.MustCompile(`(?s)(<!-- table: ` + name + ` -->\n).*?(<!-- end of table -->\n)`)
			if n := len(block.FindAllString(text, -1)); n != 1 {
				t.Fatalf("%s has %d tables %s", document, n, name)
			}
			text = block.ReplaceAllString(text, "${1}\n"+strings.ReplaceAll(made, "$", "$$")+"\n${2}")
		}
		golden(t, document, text)
	}
}

// heading is one way of asking with the events that bring it.
type heading struct {
	asking Trigger
	events []string
}

var (
	onComments = []string{"issue_comment.created", "pull_request_review_comment.created", "pull_request_review.submitted"}
	onBuilds   = []string{"workflow_run.completed", "check_suite.completed"}
	onDispatch = []string{"workflow_dispatch", "repository_dispatch"}
)

// headings are all ways of asking, in the order of the documents.
var headings = []heading{
	{ByLabel, []string{"issues.labeled"}},
	{ByPlanLabel, []string{"issues.labeled"}},
	{ByPullLabel, []string{"pull_request.labeled"}},
	{OtherPullLabel, []string{"pull_request.labeled"}},
	{OtherLabel, []string{"issues.labeled", "pull_request.labeled"}},
	{RunningOff, []string{"issues.unlabeled", "pull_request.unlabeled"}},
	{RequestOff, []string{"issues.unlabeled", "pull_request.unlabeled"}},
	{OtherLabelOff, []string{"issues.unlabeled", "pull_request.unlabeled"}},
	{ByClosing, []string{"issues.closed", "pull_request.closed"}},
	{ByRun, onComments},
	{ByRetry, onComments},
	{ByRetryHint, onComments},
	{ByRetryFresh, onComments},
	{ByContinue, onComments},
	{ByAccept, onComments},
	{ByFix, onComments},
	{ByFixNowhere, onComments},
	{ByStop, onComments},
	{ByHint, onComments},
	{ByPlan, onComments},
	{ByApprove, onComments},
	{ByStatus, onComments},
	{ByHelp, onComments},
	{PlainComment, onComments[:2]},
	{EditedComment, []string{"issue_comment.edited", "pull_request_review_comment.edited", "pull_request_review.edited"}},
	{EditedIssue, []string{"issues.edited", "pull_request.edited"}},
	{ByChanges, onComments[2:]},
	{PlainReview, onComments[2:]},
	{BuildUngated, onBuilds},
	{BuildOfFork, onBuilds},
	{ByBuildFailed, onBuilds},
	{ByBuild, onBuilds},
	{ByDispatch, onDispatch},
	{ByDispatchFresh, onDispatch},
	{BySchedule, []string{"schedule"}},
	{Anything, []string{"…"}},
}

// told is a text of the table with the names that the rules have when nobody sets others.
func told(text string) string {
	text = strings.NewReplacer("{here}", "#43", "{issue}", "issue #42", "{the label}", "“bug”").Replace(text)
	return filled(text, Event{Name: "star.created"}, defaults)
}

func tableOf(header []string, body [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, cells := range body {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

// askingTable: one row for each way of asking.
func askingTable() string {
	var body [][]string
	for _, h := range headings {
		who, verb, events := "", "nothing", []string{}
		for _, name := range h.events {
			events = append(events, "`"+name+"`")
		}
		if asks := verbOf(h.asking); asks != "" {
			who, verb = string(asker(kindOf(h))), string(asks)
		}
		if h.asking == Anything {
			events = nil
		}
		body = append(body, []string{told(string(h.asking)), strings.Join(events, ", "), verb, who})
	}
	return tableOf([]string{"trigger", "GitHub's event", "request", "permission"}, body)
}

// verbOf is what a way of asking asks for; empty: nothing.
func verbOf(asking Trigger) Verb {
	for _, v := range verbs {
		if v.asking == asking {
			return v.verb
		}
	}
	return requested[asking]
}

// kindOf is the kind of a way of asking, by its first event.
func kindOf(h heading) Kind {
	return map[string]Kind{
		"issues.labeled": Labeled, "pull_request.labeled": Labeled, "issues.unlabeled": Unlabeled, "issues.closed": Closed,
		"issue_comment.created": Commented, "pull_request_review.submitted": Reviewed, "workflow_run.completed": Built,
		"workflow_dispatch": Dispatched, "schedule": Scheduled,
	}[h.events[0]]
}

// standingTable: what becomes of each way of asking, where it is mostly done.
func standingTable() string {
	header := []string{"trigger"}
	for _, at := range Standings {
		header = append(header, string(at))
	}
	var body [][]string
	for _, h := range headings {
		where := usual(h.asking)
		if verbOf(h.asking) == "" || where == "" {
			continue
		}
		cells := []string{told(string(h.asking))}
		for _, at := range Standings {
			cells = append(cells, string(rows[find(h.asking, where, at)].do))
		}
		body = append(body, cells)
	}
	return tableOf(header, body)
}

func usual(asking Trigger) Place {
	for _, where := range []Place{OnIssue, OnOwnPull, Nowhere} {
		if happens(asking, where) {
			return where
		}
	}
	return ""
}

// rulesTable: the rules as they are.
func rulesTable() string {
	var body [][]string
	for _, r := range rows {
		asks := make([]string, len(r.asks))
		for i, a := range r.asks {
			asks[i] = told(string(a))
		}
		body = append(body, []string{strings.Join(asks, "; "), listed(r.on), listed(r.at), string(r.do), told(r.why)})
	}
	return tableOf([]string{"trigger", "on", "run status", "effect", "reason"}, body)
}

// listed is a list in words, of which an empty one is all.
func listed[T ~string](list []T) string {
	var words []string
	for _, one := range list {
		words = append(words, string(one))
	}
	if len(words) == 0 {
		return "any"
	}
	return strings.Join(words, ", ")
}

// whoTable asks Authorize about every kind of user who can be behind an event.
func whoTable() string {
	known := func(p Permission) map[string]Permission { return map[string]Permission{"alice": p} }
	people := []struct {
		told string
		as   Actor
		what map[string]Permission
	}{
		{"admin permission", Actor{"alice", false}, known(Permission{Level: "admin"})},
		{"maintain permission", Actor{"alice", false}, known(Permission{Level: "write", Role: "maintain"})},
		{"write permission", Actor{"alice", false}, known(Permission{Level: "write"})},
		{"a custom role that inherits write, maintain or admin", Actor{"alice", false},
			known(Permission{Level: "write", Role: "releaser"})},
		{"a custom role that inherits triage or read", Actor{"alice", false},
			known(Permission{Level: "read", Role: "auditor"})},
		{"triage permission", Actor{"alice", false}, known(Permission{Level: "read", Role: "triage"})},
		{"read permission, or anyone in a public repository", Actor{"alice", false}, known(Permission{Level: "read"})},
		{"a user whose permission can't be read", Actor{"alice", false}, known(Permission{Err: fmt.Errorf("502")})},
		{"a bot named in `allowed_bots`", Actor{"helper[bot]", true}, nil},
		{"another bot, with any permission", Actor{"stray[bot]", true}, nil},
		{"a deleted account", Actor{}, nil},
		{"ralph itself", Actor{"ralph[bot]", true}, nil},
	}
	var body [][]string
	for _, p := range people {
		cells := []string{p.told}
		for _, kind := range []Kind{Commented, Closed} {
			ev := Event{Kind: kind, Sender: p.as, Issue: &Issue{Number: 42}, Comment: &Comment{Author: p.as}}
			cells = append(cells, answer(ev, Facts{Self: "ralph[bot]", Permissions: p.what}))
		}
		body = append(body, cells)
	}
	return tableOf([]string{"who", "label, command, review, dispatch", "closing"}, body)
}

func answer(ev Event, facts Facts) string {
	if _, own := IsOwn(ev, facts.Self); own {
		return "nothing happens"
	}
	if Authorize(ev, facts, Rules{AllowedBots: []string{"helper[bot]"}}) != nil {
		return "refused"
	}
	return "yes"
}
