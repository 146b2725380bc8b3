//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
)

// standIn is a script's GitHub, once the script has asked for one.
type standIn struct{ *fake.GitHub }

type standInKey struct{}

const (
	noWorkflows = "github_pat_0123456789abcdefghij_ABCDEFGHIJ0123456789"
	aliceToken  = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	jobToken    = "ghs_0123456789abcdefghijABCDEFGHIJ012345"
	writerToken = "ghs_1123456789abcdefghijABCDEFGHIJ012345"
	made        = "20261121-093000-7f3a" // the run of issue #1
)

func hubOf(ts *testscript.TestScript) *standIn { return ts.Value(standInKey{}).(*standIn) }

// startHub starts a stand-in for GitHub with the repository alice/demo, and tells the script where it is by the
// variables of a job: github. Alice owns it, bob may write, mallory may read; issue #1 is mallory's. GITHUB_TOKEN is
// alice's, $JOB_TOKEN a job's that may only read, $WRITER_TOKEN one's that may write as ralph's workflow says, and
// $NO_WORKFLOWS_TOKEN one of alice's that may not write workflows.
func startHub(ts *testscript.TestScript, _ bool, _ []string) {
	hub, err := fake.New(fake.Options{})
	ts.Check(err)
	ts.Defer(hub.Close)
	hubOf(ts).GitHub = hub
	ts.Check(hub.AddRepo("alice", "demo", "main"))
	hub.SetPermission("alice", "demo", "bob", "write")
	hub.SetPermission("alice", "demo", "mallory", "read")
	hub.AddToken(aliceToken, "alice", fake.PAT)
	hub.AddLimitedToken(fake.Token{Value: noWorkflows, Login: "alice", Kind: fake.PAT,
		Permissions: fake.Permissions{"contents": "write", "issues": "write", "pull_requests": "write"}})
	hub.AddLimitedToken(fake.Token{Value: jobToken, Kind: fake.Actions,
		Permissions: fake.Permissions{"contents": "read", "issues": "read"}})
	hub.AddToken(writerToken, "github-actions[bot]", fake.Actions)
	_, err = hub.CommitFiles("alice", "demo", "main", "begin", map[string]string{
		"Makefile":             "test:\n\ttrue\n",
		".ralph/settings.json": `{"guardrails": [{"command": "make test"}]}`,
	})
	ts.Check(err)
	hub.AddIssue("alice", "demo", fake.Issue{Title: "Make add add", Body: "It subtracts.", Author: "mallory"})
	for name, value := range map[string]string{
		"GITHUB_API_URL": hub.APIURL(), "GITHUB_GRAPHQL_URL": hub.GraphQLURL(), "GITHUB_SERVER_URL": hub.URL(),
		"GITHUB_TOKEN":      aliceToken,
		"GITHUB_REPOSITORY": "alice/demo", "JOB_TOKEN": jobToken, "WRITER_TOKEN": writerToken,
		"NO_WORKFLOWS_TOKEN": noWorkflows,
	} {
		ts.Setenv(name, value)
	}
}

// wrote fails unless something on GitHub was changed since it was asked last, ! wrote if it was.
func wrote(ts *testscript.TestScript, neg bool, _ []string) {
	var writes []string
	hub := hubOf(ts)
	for _, c := range append(hub.Calls(), hub.GitCalls()...) {
		if c.Write {
			writes = append(writes, c.String())
		}
	}
	hub.ResetCalls()
	if neg == (len(writes) > 0) {
		ts.Fatalf("written: %q", writes)
	}
	if problems := hub.Problems(); len(problems) > 0 {
		ts.Fatalf("GitHub would not have understood: %q", problems)
	}
}

// onHub changes what is on GitHub: onhub secret NAME, onhub pulls-allowed, onhub commit PATH FILE, onhub remove PATH,
// onhub merge, onhub run for one that is done, onhub running for one that somebody works on, onhub edit-plan WHO OLD
// NEW in the list of the plan's comment, onhub said NUMBER FILE for what ralph has written there.
func onHub(ts *testscript.TestScript, _ bool, args []string) {
	hub := hubOf(ts)
	switch args[0] {
	case "secret":
		hub.SetSecrets("alice", "demo", args[1])
	case "pulls-allowed":
		hub.SetActions("alice", "demo", fake.ActionsSettings{CanApprovePullRequest: true})
	case "commit":
		_, err := hub.CommitFiles("alice", "demo", "main", "change", map[string]string{args[1]: ts.ReadFile(args[2])})
		ts.Check(err)
	case "remove":
		inRepo(ts, hub, "commit refs/heads/main\ncommitter alice <alice@example.com> 1763717400 +0000\ndata "+
			"6\nremove\nfrom refs/heads/main^0\nD "+args[1]+"\n", "fast-import", "--quiet")
	case "merge":
		hub.Merge("alice", "demo", hub.Pulls("alice", "demo")[0].Number, "alice")
	case "run":
		addRun(ts, hub, loop.Record{Type: loop.Ended, End: &loop.End{Outcome: loop.Done, Reason: "every check has passed"}})
	case "edit-plan":
		for _, c := range hub.Comments("alice", "demo", 1) {
			if list, fold, ok := strings.Cut(c.Body, "<details>"); ok && strings.Contains(list, "#### Stories") {
				edited := strings.ReplaceAll(list, strings.ReplaceAll(args[2], `\n`, "\n"), strings.ReplaceAll(args[3], `\n`, "\n"))
				hub.EditCommentAs("alice", "demo", c.ID, edited+"<details>"+fold, args[1])
			}
		}
	case "said":
		var all strings.Builder
		number, err := strconv.Atoi(args[1])
		ts.Check(err)
		for _, c := range hub.Comments("alice", "demo", number) {
			if c.Author == "github-actions[bot]" {
				all.WriteString(strings.TrimSpace(c.Body) + "\n\n")
			}
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(all.String()), 0o600))
	case "running":
		addRun(ts, hub)
		hold(ts, hub)
	default:
		ts.Fatalf("onhub %s: no such change", args[0])
	}
	hub.ResetCalls()
}

// addRun makes pull request #2, and the record of the run of issue #1 that has made it.
func addRun(ts *testscript.TestScript, hub *standIn, more ...loop.Record) {
	tip, err := hub.CommitFiles("alice", "demo", "ralph/issue-1", "add adds", map[string]string{"add.sh": "add\n"})
	ts.Check(err)
	pull := hub.AddPull("alice", "demo",
		fake.Pull{Title: "Make add add", Head: "ralph/issue-1", Author: "github-actions[bot]"})
	at := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	var journal bytes.Buffer
	for _, r := range append([]loop.Record{
		{Type: loop.Started, Start: &loop.Start{Run: made, Task: "issue-1", Assignment: loop.Assignment{Title: "Make add add"}, Issue: 1,
			Base:       hub.BranchSHA("alice", "demo", "main"),
			BaseBranch: "main", Branch: "ralph/issue-1", Agent: "claude", Checks: []string{"make test"}, MaxIterations: 5}},
		{Type: loop.Committed, Iteration: 1, Commit: &loop.Commit{SHA: tip}},
		{Type: loop.Posted, Post: &loop.Post{PostedPull: loop.PostedPull{Pull: pull}, Finished: true}},
	}, more...) {
		r.At = at
		ts.Check(json.NewEncoder(&journal).Encode(r))
	}
	blob := inRepo(ts, hub, journal.String(), "hash-object", "-w", "--stdin")
	tree := inRepo(ts, hub, "100644 blob "+blob+"\tjournal.jsonl\n", "mktree")
	inRepo(ts, hub, "", "update-ref", "refs/ralph/runs/issue-1", inRepo(ts, hub, "", "commit-tree", "-m", "record", tree))
}

// inRepo runs git in the repository on GitHub.
func inRepo(ts *testscript.TestScript, hub *standIn, in string, args ...string) string {
	cmd := exec.Command("git", append([]string{"--git-dir", hub.GitDir("alice", "demo"), "-c", "user.name=ralph", "-c",
		"user.email=ralph@example.com"}, args...)...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	ts.Check(err)
	return strings.TrimSpace(string(out))
}

// hold takes the lease of issue #1 as a job does.
func hold(ts *testscript.TestScript, hub *standIn) {
	door, err := lease.Open(context.Background(), git.Options{
		Remote: git.Remote{URL: hub.CloneURL("alice", "demo"), Token: aliceToken}, Env: os.Environ(), Root: ts.MkAbs("."),
		Identity: git.Identity{Name: "ralph", Email: "ralph@example.com"}, Log: ts.Logf,
	}, now)
	ts.Check(err)
	_, err = door.Take(context.Background(), lease.Lease{Task: "issue-1", Owner: "workflow run 77, attempt 1"})
	ts.Check(err)
	door.Close()
}

// payload makes something happen on GitHub and writes the payload of its event: payload FILE labeled LABEL WHO, payload
// FILE commented NUMBER WHO TEXT, payload FILE approved WHO for an approval some seconds from now, payload FILE edited
// WHO TEXT, payload FILE closed WHO, payload FILE reviewed WHO TEXT, payload FILE fork WHO TEXT, payload FILE
// dispatched WHO INPUT VALUE, payload FILE schedule.
func payload(ts *testscript.TestScript, _ bool, args []string) {
	hub, file, rest := hubOf(ts), ts.MkAbs(args[0]), args[2:]
	var text []byte
	switch args[1] {
	case "labeled":
		hub.Unlabel("alice", "demo", 1, rest[0], rest[1])
		hub.Label("alice", "demo", 1, rest[0], rest[1])
		text = hub.LabeledPayload("alice", "demo", 1, rest[0], rest[1])
	case "commented":
		text = commented(hub, map[string]int{"issue": 1, "pull": 2}[rest[0]], rest[1], rest[2])
	case "approved": // GitHub keeps whole seconds
		id := hub.AddComment("alice", "demo", 1,
			fake.Comment{Author: rest[0], Body: "/ralph approve",
				CreatedAt: time.Now().UTC().Truncate(time.Second).Add(3 * time.Second)})
		text = hub.CommentPayload("alice", "demo", id)
	case "edited":
		id := hub.AddComment("alice", "demo", 1, fake.Comment{Author: rest[0], Body: "hello"})
		hub.EditComment("alice", "demo", id, rest[1])
		text = hub.CommentEditedPayload("alice", "demo", id, "hello", rest[0])
	case "closed":
		hub.CloseIssue("alice", "demo", 1)
		text = hub.ClosedPayload("alice", "demo", 1, rest[0])
	case "reviewed":
		text = hub.ReviewPayload("alice", "demo",
			hub.AddReview("alice", "demo", 2, fake.Review{Author: rest[0], State: "CHANGES_REQUESTED", Body: rest[1]}))
	case "fork":
		n := hub.AddPull("alice", "demo", fake.Pull{Title: "mine", Head: "mine", HeadRepo: "mallory/demo", Author: "mallory"})
		text = commented(hub, n, rest[0], rest[1])
	case "dispatched":
		text = hub.DispatchPayload("alice", "demo", rest[0], map[string]string{rest[1]: rest[2]})
	case "schedule":
		text = hub.SchedulePayload("alice", "demo")
	default:
		ts.Fatalf("payload of %s: no such event", args[1])
	}
	ts.Check(os.WriteFile(file, text, 0o600))
	hub.ResetCalls()
}

func commented(hub *standIn, number int, who, body string) []byte {
	return hub.CommentPayload("alice", "demo",
		hub.AddComment("alice", "demo", number, fake.Comment{Author: who, Body: body}))
}
