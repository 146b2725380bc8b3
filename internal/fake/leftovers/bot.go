package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fake"
)

const (
	owner, name = "alice", "demo"
	token       = "ghs_made-up-for-a-recording" // of the workflow; it opens nothing but the stand-in
)

// botAgent does as the issue says: of the first one it makes a commit and waits in its second turn, the second one it
// never solves.
const botAgent = `#!/bin/sh
p=$(cat)
case "$p" in
*"Nobody can"*) date +%N >> tried.txt;;
*"FAIL: add"*)
	echo half > half.txt
	touch ` + root + `/signs/second
	while :; do sleep 0.1; done;;
*) echo "# tried" >> add.sh;;
esac
echo "<response>DONE</response>"
`

// bot has a job killed in the second turn of issue 1, and another one come to its limit on issue 2.
func bot(ctx context.Context, p *place) error {
	hub, err := fake.New(fake.Options{})
	if err != nil {
		return err
	}
	defer hub.Close()
	if err := errors.Join(p.write("agent", botAgent), os.Mkdir(filepath.Join(p.dir, "signs"), 0o755),
		os.Chmod(filepath.Join(p.dir, "signs"), 0o777)); err != nil {
		return err // the agent is another user where ralph is root
	}
	if err := stage(hub); err != nil {
		return err
	}
	if err := p.killed(ctx, "signs/second", p.job(hub, 1)...); err != nil {
		return err
	}
	if err := p.runs(ctx, 1, p.job(hub, 2)...); err != nil {
		return err
	}
	if problems := hub.Problems(); len(problems) > 0 {
		return fmt.Errorf("GitHub would not have understood: %q", problems)
	}
	return p.keep(hub)
}

// stage makes the repository and its two issues.
func stage(hub *fake.GitHub) error {
	if err := hub.AddRepo(owner, name, "main"); err != nil {
		return err
	}
	hub.AddToken(token, "github-actions[bot]", fake.Actions)
	_, err := hub.CommitFiles(owner, name, "main", "seed", map[string]string{
		"Makefile": "test:\n\t@. ./add.sh; test \"$$(add 2 3)\" = 5 || { echo \"FAIL: add 2 3\"; exit 1; }\n",
		"add.sh":   "add() { echo $(($1 - $2)); }\n",
	})
	hub.AddIssue(owner, name, fake.Issue{Title: "Make add add", Body: "It subtracts.", Author: "mallory"})
	hub.AddIssue(owner, name, fake.Issue{Title: "Nobody can", Body: "It subtracts.", Author: "mallory"})
	return err
}

// job labels an issue, and returns the arguments of ralph in the job of that, whose environment it sets.
func (p *place) job(hub *fake.GitHub, issue int) []string {
	hub.Label(owner, name, issue, "ralph", owner)
	dir := filepath.Join(p.dir, fmt.Sprintf("job-%d", issue))
	event := filepath.Join(dir, "event.json")
	_ = os.MkdirAll(filepath.Join(dir, "workspace"), 0o755)
	_ = os.WriteFile(event, hub.LabeledPayload(owner, name, issue, "ralph", owner), 0o600) // ralph says that it is missing
	p.stay = []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH=" + event,
		"GITHUB_REPOSITORY=" + owner + "/" + name,
		"GITHUB_SERVER_URL=" + hub.URL(), "GITHUB_API_URL=" + hub.APIURL(), "GITHUB_GRAPHQL_URL=" + hub.GraphQLURL(),
		fmt.Sprintf("GITHUB_RUN_ID=%d", issue), "GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKSPACE=" + filepath.Join(dir, "workspace"),
		"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md"),
		"RALPH_WORKSPACE=" + filepath.Join(dir, "ralph"),
		"INPUT_GITHUB_TOKEN=" + token, "INPUT_MAX_ITERATIONS=2", "INPUT_SKIP_REVIEW=true",
		"INPUT_AGENT=" + filepath.Join(p.dir, "agent"),
	}
	p.clone = dir
	return []string{"action"}
}

// keep leaves of the place what GitHub has: the repository, and what was said.
func (p *place) keep(hub *fake.GitHub) error {
	text, err := json.MarshalIndent(hub.Talk(owner, name), "", "\t")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(p.dir); err != nil {
		return err
	}
	if err := p.write("talk.json", string(text)+"\n"); err != nil {
		return err
	}
	remote := filepath.Join(p.dir, "remote.git")
	if out, err := exec.Command("git", "clone", "-q", "--mirror", "--template=", hub.GitDir(owner, name),
		remote).CombinedOutput(); err != nil {
		return fmt.Errorf("git clone: %w\n%s", err, out)
	}
	// no path of the stand-in's
	return os.WriteFile(filepath.Join(remote, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = true\n"),
		0o644)
}
