package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// examples are lines that somebody would type, by the command that they show.
var examples = []struct{ command, lines string }{
	{"action", `
ralph action --dry-run --event-name issues --event event.json`},
	{"init", `
ralph init                             # Enter takes what is found here
ralph init --yes --agent codex --check 'make test'
ralph init --github --repo alice/demo  # labels and a workflow`},
	{"run", `
ralph "fix the failing test"          # until the checks found here pass
ralph run -m 5 --check 'go test ./...' 'fix the failing test'
ralph run --issue issue.md            # on a branch of its own
ralph run --issue 42                  # one on GitHub
ralph run --tasks tasks --parallel 3  # three task files at once
ralph run --issue 42 --resume         # goes on with what was stopped`},
	{"settings show", `
ralph settings show  # every value, and where it comes from`},
	{"settings set", `
ralph settings set agent.model opus
ralph settings set --user agent.command codex  # yours, in every clone
ralph settings set guardrails '[{"command": "make test"}]'`},
	{"settings unset", `
ralph settings unset agent.model`},
	{"settings schema", `
ralph settings schema >settings.schema.json`},
	{"sweep", `
ralph sweep --list  # for the matrix of a workflow`},
	{"replay", `
ralph replay --agent claude turn.jsonl
codex exec --json 'say hello' | ralph replay --agent codex -`},
	{"prompt", `
ralph prompt --issue 42 --role reviewer
ralph prompt -p 'fix the failing test'`},
	{"doctor", `
ralph doctor
ralph doctor --agent codex
ralph doctor --github --repo alice/demo`},
	{"supervise", `
ralph supervise -- ./work-on-it.sh  # until it leaves a file DONE`},
	{"bus post", `
ralph bus post wait_without_restart 'which database?'`},
	{"bus read", `
ralph bus read --follow`},
	{"signature", `
go test ./... 2>&1 | ralph signature --check test --explain`},
	{"plan init", `
ralph plan init --name login`},
	{"plan derive", `
ralph plan derive --from issue.md`},
	{"plan status", `
ralph plan status
ralph plan status --mermaid`},
	{"plan run", `
ralph plan run -n 30
ralph plan run --resume --timeout 3h`},
	{"plan approve", `
ralph plan approve US-003 US-004`},
	{"plan validate", `
ralph plan validate
ralph plan validate --before old.json --after ralph/tasks.json`},
	{"plan archive", `
ralph plan archive --label login`},
	{"plan skill", `
ralph plan skill --plugin ./ralph-plugin`},
	{"hook context-monitor", `
ralph hook context-monitor <event.json  # as an agent calls it`},
	{"hook stop", `
ralph hook stop <event.json  # as an agent calls it`},
	{"hook guard", `
ralph hook guard <event.json  # as an agent calls it`},
	{"hook session-start", `
ralph hook session-start <event.json  # as an agent calls it`},
	{"hook install", `
ralph hook install --agent gemini`},
	{"serve start", `
ralph serve  # prints an address to set it up at
ralph serve --listen 0.0.0.0:8080 --url https://ralph.example.com --slots 4`},
	{"serve backup", `
ralph serve backup ralph-backup`},
	{"serve restore", `
ralph serve restore ralph-backup --data /srv/ralph`},
	{"serve rotate-key", `
RALPH_DATA_KEY="1:$OLD 2:$NEW" ralph serve rotate-key`},
	{"serve ready", `
ralph serve ready  # for a container's health check`},
	{"task create", `
ralph task create add-login 'Add a login' --acceptance 'make test passes'
ralph task create -f task.md`},
	{"task list", `
ralph task list --json`},
	{"task show", `
ralph task show add-login`},
	{"task followup", `
ralph task followup add-login test-login 'Test the login'`},
	{"task prompt", `
ralph task prompt`},
	{"status", `
ralph status
ralph status issue-42 --json`},
	{"watch", `
ralph watch issue-42`},
	{"hint", `
ralph hint 'leave the parser alone'`},
	{"cancel", `
ralph cancel --now`},
	{"clean", `
ralph clean --dry-run
ralph clean --yes --drop wip/ralph-fail-issue-42`},
	{"completion", `
ralph completion zsh >"$HOME/_ralph"  # into a directory of $fpath
ralph completion bash >>"$HOME/.bash_completion"`},
}

// examplesOf are the lines of a command, such as "plan run"; empty for one that only has others below it.
func examplesOf(command string) string {
	for _, e := range examples {
		if e.command == command {
			return strings.TrimSpace(e.lines)
		}
	}
	return ""
}

// exemplify adds the examples of a command, and of those below it, to what its help tells.
func exemplify(n *kong.Node, path string) {
	if lines := examplesOf(path); lines != "" {
		n.Detail = strings.TrimSpace(n.Detail + "\n\nExamples:\n\n    " + strings.ReplaceAll(lines, "\n", "\n    "))
	}
	for _, child := range n.Children {
		exemplify(child, strings.TrimSpace(path+" "+child.Name))
	}
}
