package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
)

// scene is one thing that happens to a run.
type scene struct {
	name  string // of the recording
	files map[string]string
	play  func(ctx context.Context, p *place) error
}

// scenes are all of them. An agent works as far as its turn goes, and waits while there is a file hang beside the
// clone.
var scenes = []scene{
	{"killed", issueFiles, func(ctx context.Context, p *place) error { return onIssue(ctx, p, p.killed) }},
	{"interrupted", issueFiles, func(ctx context.Context, p *place) error { return onIssue(ctx, p, p.interrupted) }},
	{"capped", issueFiles, capped},
	{"branched", issueFiles, branched},
	{"plan", planFiles, planned},
	{"prompt", promptFiles, prompted},
	{"bot", nil, bot},
}

const gitconfig = "[user]\n\tname = Alice\n\temail = alice@example.com\n"

// issueFiles are those of an issue whose check needs what lies in the clone and is ignored.
var issueFiles = map[string]string{
	"home/.gitconfig":  gitconfig,
	"clone/issue.md":   "# Make add add\n\nIt subtracts.\n",
	"clone/add.sh":     "add() { echo $(($1 - $2)); }\n",
	"clone/.gitignore": "node_modules/\n",
	"clone/Makefile": "test:\n\t@. ./add.sh; test \"$$(add 2 3)\" = \"$$(cat node_modules/five/index.js)\" || { echo " +
		"\"FAIL: add 2 3\"; exit 1; }\n",
	"bin/agent": issueAgent,
	"hang":      "",
}

// issueAgent tries in vain in its first turn, and fixes it in the second, half of which it waits.
const issueAgent = `#!/bin/sh
case "$(cat)" in
*"FAIL: add"*)
	[ ! -e ../hopeless ] || { date +%N >> tried.txt; echo "<response>DONE</response>"; exit; }
	echo half > half.txt
	echo "# half" >> add.sh
	touch ../second
	while [ -e ../hang ]; do sleep 0.1; done
	printf 'add() { echo $(($1 + $2)); }\n' > add.sh;;
*) echo "# tried" >> add.sh; echo one > one.txt;;
esac
echo "<response>DONE</response>"
`

// usersFiles puts into the clone what its user has there and never committed.
func usersFiles(p *place) error {
	if err := p.write("clone/user.txt", "of the user\n"); err != nil {
		return err
	}
	return p.write("clone/node_modules/five/index.js", "5\n")
}

var onTheIssue = []string{"run", "--issue", "issue.md", "--agent", "agent", "--skip-review"}

func onIssue(ctx context.Context, p *place, until func(ctx context.Context, file string, args ...string) error) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	if err := usersFiles(p); err != nil {
		return err
	}
	return until(ctx, "second", onTheIssue...)
}

func capped(ctx context.Context, p *place) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	if err := usersFiles(p); err != nil {
		return err
	}
	if err := p.write("hopeless", ""); err != nil {
		return err
	}
	return p.runs(ctx, 1, append(onTheIssue, "-m", "2")...)
}

// branchedGit kills whoever has a branch made, right after that.
const branchedGit = `#!/bin/sh
real=$(PATH=${PATH#*:} command -v git)
"$real" "$@" || exit
case "$*" in checkout*ralph/issue*) kill -KILL $PPID;; esac
`

// branched is killed right after the run's branch was made.
func branched(ctx context.Context, p *place) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	if err := usersFiles(p); err != nil {
		return err
	}
	if err := p.write("bin/git", branchedGit); err != nil {
		return err
	}
	if err := p.runs(ctx, -1, onTheIssue...); err != nil {
		return err
	}
	return os.Remove(filepath.Join(p.dir, "bin", "git"))
}

var planFiles = map[string]string{
	"home/.gitconfig":          gitconfig,
	"clone/Makefile":           "test:\n\t@test ! -e greeting || grep -q hello greeting\n",
	"clone/ralph/prd.md":       "# Greetings\n\nA file that greets, and one that says goodbye.\n",
	"clone/ralph/progress.txt": "# Ralph Progress Log\n",
	"clone/ralph/tasks.json": `{
  "project": "demo",
  "branchName": "ralph/demo",
  "description": "Greetings",
  "verifyCommands": [
    "make test"
  ],
  "userStories": [
    {
      "id": "US-001",
      "title": "Add a greeting",
      "description": "A file that greets.",
      "acceptanceCriteria": [
        "greeting says hello"
      ],
      "priority": 1,
      "passes": false,
      "reviewStatus": null,
      "reviewCount": 0,
      "reviewFeedback": "",
      "notes": "",
      "dependsOn": []
    },
    {
      "id": "US-002",
      "title": "Add a farewell",
      "description": "A file that says goodbye.",
      "acceptanceCriteria": [
        "farewell says goodbye"
      ],
      "priority": 2,
      "passes": false,
      "reviewStatus": null,
      "reviewCount": 0,
      "reviewFeedback": "",
      "notes": "",
      "dependsOn": [
        "US-001"
      ]
    }
  ]
}
`,
	"bin/agent": planAgent,
	"hang":      "",
}

// planAgent writes a story's file and hands it in, and waits within the second one; it approves what it reviews.
const planAgent = `#!/bin/sh
p=$(cat)
handin() {
	awk -v id="$1" '
		/^ *"id": / { here = index($0, id) }
		here && /"reviewStatus": / { sub(/null/, "\"needs_review\"") }
		{ print }' ralph/tasks.json > .tasks && cat .tasks > ralph/tasks.json && rm .tasks
}
if grep -q '"iterationMode": "review"' .ralph-active; then
	tree=$(printf '%s' "$p" | sed -n 's/.*"tree": *"\([0-9a-f]*\)".*/\1/p' | head -1)
	printf '{"verdict":"approve","tree":"%s","summary":"fine","issues":[]}\n' "$tree"
elif [ -e greeting ]; then
	echo half > half.txt
	echo good > farewell
	touch ../second
	while [ -e ../hang ]; do sleep 0.1; done
	echo goodbye > farewell
	handin US-002
	echo "that is all"
else
	echo hello > greeting
	handin US-001
	echo "that is all"
fi
`

func planned(ctx context.Context, p *place) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	return p.killed(ctx, "second", "plan", "run", "--agent", "agent")
}

var promptFiles = merged(issueFiles, map[string]string{
	"bin/agent": `#!/bin/sh
cat > /dev/null
if [ -e one.txt ]; then
	echo half > half.txt
	touch ../second
	while [ -e ../hang ]; do sleep 0.1; done
	printf 'add() { echo $(($1 + $2)); }\n' > add.sh
	echo "<response>DONE</response>"
else
	echo one > one.txt
	echo "one more turn"
fi
`,
})

func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, files := range all {
		maps.Copy(out, files)
	}
	return out
}

func prompted(ctx context.Context, p *place) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	if err := usersFiles(p); err != nil {
		return err
	}
	return p.killed(ctx, "second", "run", "-p", "Make add add", "--agent", "agent")
}
