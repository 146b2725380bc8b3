package config

import (
	"slices"
	"sync"
)

// Table is every key of the settings, in the order of the struct Settings.
var Table = sync.OnceValue(func() []Setting {
	return slices.Concat(loopRows(), agentRows(), judgeRows(), planRows(), sandboxRows(), limitRows(), botRows(),
		placeRows())
})

func loopRows() []Setting {
	return []Setting{
		{
			Key: "maximumIterations", Kind: Integer, Max: maxIterations, NoValue: "5", Input: "max_iterations",
			Summary: "How many iterations a run may take; 0 for as many as fit into `timeoutMinutes`.",
			Details: "Not set, it is 5 for an issue or a task, 10 for a prompt, 15 for a plan. Where roles have criteria, each " +
				"may take as many " +
				"turns as its `max_iterations` says (coder 15, tester 10, reviewer and qa 5), and the run as many as coder and " +
				"tester " +
				"together. A retry gets as many again.",
			Unset:     "5 for an issue or a task, 10 for a prompt, 15 for a plan",
			InputSays: "How many iterations a run may take. Default: 5 for an issue.",
		},
		{
			Key: "completionResponse", Default: "DONE", Pattern: filled, MaxLen: 200,
			Summary: "The text of `<response>…</response>` with which the agent claims to be done.",
			Details: "Case and white space do not matter. `<promise>COMPLETE</promise>` claims too.",
		},
		{
			Key: "outputTruncateChars", Kind: Integer, Min: 1, Max: 1_000_000, Default: 5000,
			Summary: "How many characters of a failed check's output the next prompt carries.",
		},
		{
			Key: "outputTruncateFrom", Choices: []string{FromHead, FromTail, FromBoth}, Default: FromHead,
			Summary: "Which part of an output that is too long is kept: `head` its beginning, `tail` its end, `both` half of each.",
		},
		{Key: "streamAgentOutput", Kind: Boolean, Default: true, Summary: "Show the agent's output while it works."},
		{
			Key: "includeIterationCountInPrompt", Kind: Boolean, Default: false,
			Summary: `Begin every prompt with "Iteration X of Y, Z remaining."`,
		},
	}
}

func agentRows() []Setting {
	const command = "`claude`, `codex`, `amp`, `gemini`, `opencode`, or a program that takes a prompt on standard input."
	flags := Setting{
		Key: "flags", Kind: List, Entry: &Setting{}, NoValue: "none", Summary: "Arguments that go before ralph's own.",
		Details: "`\"--model opus\"` in one string is two arguments.", Syntax: byShell,
	}
	agentFlags := flags
	agentFlags.Input = "agent_args"
	agentFlags.InputSays = "Arguments added to the agent's own, quoted as in a shell."
	return []Setting{
		{Key: "agent", Kind: Object, NoValue: "claude", Summary: "The coding agent that does the work.", Keys: []Setting{
			{
				Key: "command", Pattern: filled, Default: "claude", Input: "agent", Summary: command,
				Details: "A program is a command on `PATH`, or a path; a relative path is one from the top of the repository.",
				InputSays: "Coding agent: claude, codex, amp, gemini, opencode, or the path of a program that takes a prompt on " +
					"standard input. Default: claude.",
			},
			agentFlags,
			{
				Key: "model", NoValue: "the agent's own", Input: "model", Summary: "The model to use.",
				Details:   "A plain command is not told.",
				InputSays: "Model of the agent. Default: the agent's own.",
			},
			{
				Key: "timeout", Kind: Duration24, Default: "20m", Summary: "How long one turn may take, at most 24h.",
				Details: "Such as `90s`, `10m` or `1h30m`.",
			},
			{Key: "idleTimeout", Kind: Duration24, Default: "10m", Summary: "How long a turn may go on without any output."},
		}},
		{
			Key: "agentSettings", Kind: Boolean, Default: false,
			Summary: "Let the repository's own agent settings and hooks in, such as `.claude/` and `.codex/`.",
			Details: "They are code that the repository brings; let them in only where all of its authors are trusted.",
		},
		{Key: "claimByExit", Kind: Boolean, Default: false, Summary: "Take the agent's exit code 0 as its claim to be done."},
		{
			Key: "doneFile", Kind: Path, Default: "", Allowed: `the path of a file in the repository, such as "DONE"`,
			Summary: "The path of a file in the repository; when it is there after a turn, the agent claims to be done.",
		},
		{Key: "reviewer", Kind: Object, NoValue: "as `agent`", Summary: "The agent that reviews the work, and acts as qa.",
			Details: "With the same command as the agent, flags and model that are not set are the agent's.", Keys: []Setting{
				{
					Key: "command", Pattern: filled, NoValue: "`agent.command`", Summary: command, Input: "reviewer_agent",
					InputSays: "Agent that reviews. Default: the one that works.",
				},
				flags,
				{
					Key: "model", NoValue: "the agent's own", Summary: "The model to use.", Input: "reviewer_model",
					InputSays: "Model of the reviewer. Default: the agent's.",
				},
				{
					Key: "timeout", Kind: Duration24, Default: "5m",
					Summary: "How long one review may take, or a question to the model of a semantic verification.",
				},
				{
					Key: "idleTimeout", Kind: Duration24, NoValue: "`agent.idleTimeout`",
					Summary: "How long a review may go on without any output.",
				},
			}},
	}
}

func judgeRows() []Setting {
	block := []string{Hard, Soft, Off}
	return []Setting{
		{
			Key: "guardrails", Kind: List, MaxLen: 50,
			Entry:   &Setting{Kind: Object, Keys: guardrailRows(), Allowed: `an object, such as {"command": "make test"}`},
			NoValue: "detected", Input: "checks", Syntax: byLines, Unset: "detected from the repository",
			Summary: "The commands that judge the work, in the order they run.",
			Details: "Not set, they are [detected](detection.md), for a prompt only within git. An empty list means none. " +
				"[checks.md](checks.md) tells what " +
				"they are held to.",
			InputSays: "Commands that judge the work, one a line, in their order. Default: the guardrails of " +
				".ralph/settings.json, else what the repository shows (make test, npm test, go test, ...).",
		},
		scmRow(),
		{
			Key: "review", Kind: Boolean, Default: true, Input: "review",
			Unset:   "true for an issue, a task or a plan, false for a prompt",
			Summary: "Ask a fresh reviewer before a run is done.",
			Details: "A run with a prompt has a review only where a file or a flag says so.",
		},
		{
			Key: "pipeline", Kind: List, Entry: oneOf("coder", "tester", "reviewer", "qa"), MaxLen: 4, Distinct: true,
			NoValue: "from the task",
			Summary: "Who acts, in order: `coder` and `tester` take turns of their own; `reviewer` and `qa` judge after them.",
			Details: "With it nobody else acts, whatever a task says. Without it: the coder, every role that the task has " +
				"criteria for, and the " +
				"reviewer unless `review` is false.",
		},
		{
			Key: "completion", Kind: Object, NoValue: "none",
			Summary: "What done means for every task that does not say it itself: `outcome`, `acceptance_criteria`, and per role " +
				"promise and verification.",
			Details: "As in a [task file](tasks.md#the-keys). An issue cannot change what it says of a role.",
		},
		{
			Key: "verification", Choices: []string{"string_match", "semantic"}, Default: "string_match",
			Summary: "How a promise is verified when the criteria name neither a method nor a command: `string_match`, or " +
				"`semantic`, which asks a model.",
		},
		{Key: "strict", Kind: Boolean, Default: false,
			Summary: "Refuse a task without acceptance criteria, instead of warning."},
		{
			Key: "protected", Kind: List, Entry: texts(), MaxLen: maxEntries, Default: []string{".ralph/**"},
			Summary: "Files that a run may not touch: patterns from the top of the repository, `**` for any number of directories.",
			Details: "One without a slash is looked for in every directory; upper and lower case are the same.",
		},
		{
			Key: "editedChecks", Choices: block, Default: Soft,
			Summary: "What it means when the change edits what judges it: a script that a guardrail runs, the recipe of its make " +
				"target, " +
				"its script in `package.json`.",
			Details: "With `soft`, the reviewer or a person [accepts each by name](checks.md#what-has-to-be-accepted-by-name). " +
				"With `hard` only a person does. `off` does not look.",
		},
		{
			Key: "weakenedTests", Choices: block, Default: Soft,
			Summary: "What lowered thresholds, silenced warnings and tests of the base commit that fail or no longer run mean.",
			Details: "With `soft`, the reviewer or a person [accepts each by name](checks.md#what-has-to-be-accepted-by-name). " +
				"With `hard` only a person does. `off` does not look.",
		},
		{
			Key: "unfinished", Choices: block, Default: Soft,
			Summary: "What markers of unfinished work mean that the change adds: `TODO`, \"not implemented\" and the like.",
			Details: "`soft` warns; the marks of a merge block all the same, and stubs where nobody reviews. `hard` blocks, " +
				"`off` does not look.",
		},
	}
}

func scmRow() Setting {
	return Setting{Key: "scm", Kind: Object, NoValue: "none", Where: ForPrompt, Unset: "nothing runs",
		Summary: "What runs after an iteration whose guardrails all passed.",
		Details: "A task that fails ends the run as `invalid` ([checks.md](checks.md#what-no-agent-can-put-right)). Other " +
			"runs commit by themselves.",
		Keys: []Setting{
			{Key: "command", Pattern: filled, NoValue: "needed", Summary: "The source control command.",
				Details: "It may stand in another layer than the tasks."},
			{
				Key: "tasks", Kind: List, Entry: texts(), NoValue: "none", Summary: "Its tasks, in order.",
				Details: "`commit` commits everything that changed, new files too, with a message of the agent's; git's hooks are " +
					"off. " +
					"Any other is handed to the command: `push`, `push origin HEAD`.",
			},
		}}
}

func guardrailRows() []Setting {
	return []Setting{
		{Key: "name", NoValue: "the command", Summary: "How reports call it."},
		{
			Key: "command", Pattern: filled, Required: true, NoValue: "needed",
			Summary: "The command, run by the shell. It fails when its exit code is not 0.",
			Details: "It runs in `workingDirectory`, the top of the checkout by default. It also fails when it changes tracked " +
				"files, except in a " +
				"run of a prompt, whose checks work on your files and not on a commit.",
		},
		{
			Key: "shell", Choices: []string{systemShell, Bash}, Default: systemShell,
			Summary: "What runs the command: `sh -c`, or `bash -o pipefail -c`, in which a pipe does not hide a failure.",
			Details: "On Windows `sh` stands for `cmd /c`. See [checks.md](checks.md#a-command-that-hides-its-exit-code).",
		},
		{
			Key: "failAction", Choices: []string{Append, Prepend, Replace}, Default: Append,
			Summary: "How its failure enters the next prompt.",
			Details: "`APPEND` after it, `PREPEND` before it, `REPLACE` instead of it.",
		},
		{Key: "hint", NoValue: "none", Summary: "What the agent is told when it fails."},
		{Key: "severity", Choices: []string{Hard, Soft}, Default: Hard, Summary: "`hard` blocks the work, `soft` only warns."},
		{
			Key: "timeout", Kind: Duration24, NoValue: "10m, soft ones 3m", Summary: "How long it may run, at most 24h.",
			Details: "Such as `90s`, `10m` or `1h30m`.",
		},
		{Key: "softTimeout", Kind: Duration24, NoValue: "half of it, soft ones two thirds",
			Summary: "After how long the log warns."},
		{
			Key: "report", Kind: Path, NoValue: "none", Allowed: `the path of a file in the repository, such as "DONE"`,
			Summary: "A report that the command writes, JUnit XML or SARIF: its path in the repository, or a pattern with `*`.",
			Details: "What it says failed has failed, whatever the exit code.",
		},
		{Key: "expect", Kind: Object, NoValue: "exit code 0", Summary: "What must be so for it to pass.", Keys: []Setting{
			{Key: "exit", Kind: Integer, Max: 255, Default: 0, Summary: "The exit code."},
			{Key: "contains", Kind: List, Entry: texts(), MaxLen: 20, NoValue: "none",
				Summary: "Texts that the output must hold, each of them."},
			{Key: "notContains", Kind: List, Entry: texts(), MaxLen: 20, NoValue: "none",
				Summary: "Texts that the output must not hold, none of them."},
			{
				Key: "minTests", Kind: Integer, Max: 1_000_000, NoValue: "1 where the output tells",
				Summary: "How many tests must have run at least.",
				Details: "A test runner that ran none has not passed; with `0` it has: " +
					"[checks.md](checks.md#a-pass-that-tested-nothing).",
			},
		}},
	}
}

func planRows() []Setting {
	return []Setting{
		{
			Key: "reviewCap", Kind: Integer, Min: 1, Max: maxReviews, Default: 5, Input: "review_cap",
			Summary: "How many reviews a story of a plan may take.",
			Details: "What happens when the last one does not approve, `atReviewCap` says. See [plans.md](plans.md).",
		},
		{
			Key: "atReviewCap", Choices: []string{Approve, Fail}, Default: Approve, Input: "at_review_cap",
			Summary: "What happens to a story of a plan that its last review does not approve: `approve` passes it, marked so " +
				"wherever it is shown; `fail` ends the run.",
			Details: "The mark is `[AUTO-APPROVED AT CAP]`. With `fail` the exit code is 1.",
		},
		{
			Key: "plans", Kind: List, Entry: texts(), MaxLen: maxEntries, Default: []string{},
			Summary: "Plan files of the repository that a scheduled sweep runs, such as `ralph/tasks.json`.",
		},
	}
}

func sandboxRows() []Setting {
	return []Setting{
		{
			Key: "sandbox", Choices: []string{"auto", "bwrap", "landlock", "container", "docker-sandbox", "off", "require"},
			Default: "auto", Input: "sandbox",
			Summary: "What isolates the agent and the checks. `auto` uses the best there is and says which; `require` refuses to " +
				"run without one.",
			Details: "`off` uses none; `RALPH_SANDBOX=off` in ralph's own environment switches it off too. See " +
				"[sandbox.md](sandbox.md).",
		},
		{
			Key: "sandboxWritable", Kind: List, Entry: texts(), MaxLen: maxEntries, Default: []string{},
			Summary: "Paths that the agent and the checks may write to besides the worktree and a home of the run's own. `~` is " +
				"the home of whoever runs ralph.",
		},
		{
			Key: "sandboxNetwork", Kind: List, MaxLen: maxEntries, Default: registries(), NoValue: "package registries",
			Entry: &Setting{Pattern: hostPattern,
				Allowed: "a host such as proxy.golang.org, *.npmjs.org for all below it, or * for all"},
			Summary: "Hosts that may be reached in a sandbox besides the agent's model: a name, `*.example.com`, or `*` for all.",
			Details: "The default is where builds get their packages from: " + quoted(registries()) + ".",
		},
		{
			Key: "sandboxSockets", Choices: []string{"tcp", "all"}, Default: "tcp",
			Summary: "Which sockets may be made in the sandbox `landlock`: `tcp` alone, or `all`, among them UDP and unix " +
				"sockets to every program of the machine.",
			Details: "Other sandboxes need no such limit: [sandbox.md](sandbox.md#sockets).",
		},
		{
			Key: "sandboxUserns", Kind: Boolean, Default: false,
			Summary: "Let checks and the setup make user namespaces in the sandbox, as browsers and rootless containers do. An " +
				"agent or a reviewer never can.",
		},
		{
			Key: "gateway", Choices: []string{GatewayAuto, GatewayRequire, Off}, Default: GatewayAuto, Input: "gateway",
			Summary: "Whether the key of the model stays with ralph, and the agent gets an address and a bearer that count for " +
				"one turn. `auto` does that where the agent can be led there, `require` refuses a run where it cannot, `off` " +
				"hands the key to the agent.",
			Details: "In a job, `auto` refuses too where an agent that can be led there has settings that prevent it. See " +
				"[sandbox.md](sandbox.md#the-key-of-the-model).",
			InputSays: "Whether the key of the model stays with ralph: auto, require, or off, which hands it to the agent. " +
				"Default: auto.",
		},
		{
			Key: "gatewayThrough", Kind: List, MaxLen: maxEntries, Entry: &Setting{Pattern: throughWord,
				Allowed: "a word such as web_search"}, Default: []string{},
			Summary: "What the gateway passes on although its cost cannot be counted or it reaches hosts past the sandbox: " +
				"`background`, `batches`, `realtime`, `priority`, `organization`, `url_sources`, `mcp_servers`, or a tool that " +
				"runs at the provider, such as `web_search`.",
			Details: "See [limits.md](limits.md#what-cannot-be-counted).",
		},
		{
			Key: "baseline", Choices: []string{string(BaselineRequire), string(BaselinePass),
				string(BaselineReport), string(BaselineOff)},
			Default: string(BaselineReport),
			Summary: "What checks that fail on the base commit mean: `require` stops the run, `pass` goes on and demands that they " +
				"pass in the end, `report` goes on and lets the reviewer or a person accept, by name, that they fail as before, " +
				"`off` does not run them there.",
		},
	}
}

func limitRows() []Setting {
	return []Setting{
		{
			Key: "timeoutMinutes", Kind: Integer, Min: 1, Max: maxMinutes, Default: 60, Input: "timeout_minutes",
			Summary: "How many minutes one process may work on the run.",
			Details: "A run with a prompt has this limit only where a file or a flag sets it. In a job, keep it below " +
				"`timeout-minutes`.",
			Unset:     "60 for an issue, a task or a plan, no limit for a prompt",
			InputSays: "How many minutes a run may take; keep it below the job's timeout-minutes. Default: 60.",
		},
		{
			Key: "maxCostUsd", Kind: Number, Max: maxDollars, Default: 0, Input: "max_cost_usd",
			Summary: "How many US dollars a run may spend, as far as the gateway or the agent knows its cost; 0 for any " +
				"amount.",
			Details: "Counted since the run was asked for.",
			InputSays: "How many US dollars a run may spend, as far as the gateway or the agent knows its cost. Default: " +
				"any amount.",
		},
		{
			Key: "maxCostUsdPerIssue", Kind: Number, Max: maxDollars, Default: 0, Input: "max_cost_usd_per_issue",
			Summary:   "How many US dollars all runs of one issue may spend together; 0 for any amount.",
			Details:   "Retries and fresh starts are included.",
			InputSays: "How many US dollars all runs of one issue may spend together. Default: any amount.",
		},
		{
			Key: "maxTokens", Kind: Integer, Max: maxTokens, Default: 0, Input: "max_tokens",
			Summary:   "How many tokens a run may take, those of the model's cache included; 0 for any number.",
			Details:   "Counted since the run was asked for.",
			InputSays: "How many tokens a run may take, those of the model's cache included. Default: any number.",
		},
		{
			Key: "prices", Kind: List, MaxLen: maxEntries, Default: []Price{},
			Entry: &Setting{Kind: Object, Keys: priceRows(),
				Allowed: `an object, such as {"model": "my-model", "input": 3, "output": 15}`},
			Summary: "What models cost, where it is not their list price or ralph does not know it.",
			Details: "They go before the list that ralph brings along: [limits.md](limits.md#what-a-turn-costs).",
		},
		{
			Key: "limits", Kind: Object, NoValue: "see below", Keys: processLimits(),
			Summary: "What one turn, one check or the setup may take of the machine, with everything that it starts.",
			Details: "See [limits.md](limits.md#what-a-process-may-take).",
		},
	}
}

func priceRows() []Setting {
	return []Setting{
		{Key: "model", Pattern: filled, MaxLen: 128, Required: true, NoValue: "needed",
			Summary: "The model's name, as its provider calls it; a date or `latest` after it makes no other model."},
		{Key: "input", Kind: Number, Max: maxDollars, Required: true, NoValue: "needed",
			Summary: "US dollars for a million tokens that it reads."},
		{Key: "output", Kind: Number, Max: maxDollars, Required: true, NoValue: "needed",
			Summary: "US dollars for a million tokens that it writes, those of its thinking included."},
		{Key: "cached", Kind: Number, Max: maxDollars, NoValue: "as `input`",
			Summary: "US dollars for a million tokens that it reads from its cache."},
		{Key: "cacheWrite", Kind: Number, Max: maxDollars, NoValue: "as `input`",
			Summary: "US dollars for a million tokens that it writes into its cache."},
	}
}

func processLimits() []Setting {
	size := func(key, usual, says, more string) Setting {
		s := Setting{Key: key, Pattern: sizePattern, Allowed: `a size such as "512MiB" or "16GiB", or "none"`, Summary: says,
			Details: more}
		if usual == "" {
			s.NoValue = "nine tenths"
		} else {
			s.Default = usual
		}
		return s
	}
	return []Setting{
		{
			Key: "processes", Kind: Integer, Max: maxProcesses, NoValue: "4096 or more",
			Summary: "How many processes and threads there may be at once; 0 for any number.",
			Details: "Not set, it is 4096, or 256 for each processor where that is more.",
		},
		size("memory", "", "How much memory it may take: `8GiB`, or `none` for any amount.",
			"Not set, it is nine tenths of what the machine or the container has."),
		size("disk", "64GiB", "How much it may write to a disk, and how large a file may be.",
			"Whatever it is, the last GiB of a disk, or its last twentieth where that is less, is not for it."),
		size("output", "1GiB", "How much it may print.", "Much less of it is kept and shown."),
	}
}

func botRows() []Setting {
	return []Setting{
		{
			Key: "dispatch", Choices: []string{OnServer, InWorkflow}, NoValue: "`process`", Where: forServer,
			Summary: "Where a run is worked on: `process` is on the server's machine, `workflow` in a job of the repository's own " +
				"workflow.",
			Details: "See [app.md](app.md#where-a-run-is-worked-on).",
			Unset:   "process, or the first that the installation allows",
		},
		{
			Key: "workflow", Pattern: filePattern, Default: "ralph.yml", Where: forServer,
			Allowed: `the name of a file in .github/workflows, such as "ralph.yml"`,
			Summary: "The file in `.github/workflows` that `dispatch: workflow` starts.",
		},
		{
			Key: "ciGate", Choices: []string{Off, WaitForCI}, Default: Off, Where: ForBot, Input: "ci_gate",
			Summary: "Whether a run is done only when the other workflows on the pull request's head have passed: `off`, or `wait`.",
			Details: "What fails there goes into the next prompt.",
		},
		{
			Key: "ciTimeoutMinutes", Kind: Integer, Min: 1, Max: maxMinutes, Default: 30, Input: "ci_timeout_minutes",
			Summary: "How many minutes a run waits for other workflows before it pauses and says so.",
		},
		{
			Key: "comments", Choices: []string{"sticky", EachComment}, Default: "sticky", Where: ForBot, Input: "comments",
			Summary: "Comment style: `sticky` is one comment that is kept up to date, `each` is one more for every iteration.",
		},
		{
			Key: "notifyOn", Kind: List, Entry: oneOf(NotifyDone, NotifyFailed, NotifyWaiting), MaxLen: 3, Where: ForBot,
			Input:   "notify_on",
			Default: []string{NotifyDone, NotifyFailed, NotifyWaiting},
			Summary: "On which outcomes (`done`, `failed`, `waiting`) the requester is notified: of work that is done " +
				"by a review request, otherwise by a mention.",
			Details: "`failed` is every end without a result; `waiting` is one that waits for a person; `[]` for nobody. " +
				"See [reports.md](reports.md#people-are-told).",
			InputSays: "Outcomes on which the requester is notified, of work that is done by a review request, otherwise by a " +
				"mention: done, failed, waiting, separated by commas or white space, or nobody. Default: all three.",
		},
		{
			Key: "notify", Kind: List, MaxLen: maxEntries, Default: []Notification{},
			Entry: &Setting{Kind: Object, Keys: notifyRows(),
				Allowed: `an object, such as {"to": "RALPH_NOTIFY_TEAM", "on": ["failed"]}`},
			Summary: "Where else it is told how a run ended: environment variables with the address of a webhook or a service.",
			Details: "Empty: every variable `RALPH_NOTIFY_…` that is set, on every outcome. See [notify.md](notify.md).",
		},
		{
			Key: "notifyCommand", Pattern: filled, MaxLen: 4000, Where: forUser, NoValue: "none",
			Summary: "A shell command that is told how a run ended, as by the environment variable `RALPH_NOTIFY_COMMAND`.",
			Details: "It runs outside of any sandbox, so no repository can set it. See [notify.md](notify.md).",
		},
	}
}

func notifyRows() []Setting {
	return []Setting{
		{Key: "to", Pattern: notifyPattern, Required: true, NoValue: "needed",
			Allowed: `the name of an environment variable that begins with RALPH_NOTIFY_, such as "RALPH_NOTIFY_TEAM": an ` +
				`address holds a secret, which no settings file may have`,
			Summary: "The environment variable that holds the address."},
		{Key: "on", Kind: List, Entry: oneOf(NotifyDone, NotifyFailed, NotifyWaiting), MaxLen: 3,
			NoValue: "all", Summary: "On which outcomes, as in `notifyOn`."},
	}
}

func placeRows() []Setting {
	return []Setting{
		{
			Key: "workingDirectory", Kind: Path, Default: "", Input: "working_directory",
			Allowed:   `the path of a directory below the top of the repository, such as "web"; leave it out for the top`,
			Summary:   "Directory that the agent and the checks work in, from the top of the repository; empty: its top.",
			Details:   "See [checks.md](checks.md#the-working-directory).",
			InputSays: "Directory of the repository that the agent and the checks work in. Default: its top.",
		},
		{
			Key: "timeoutMultiplier", Kind: Number, Min: 0.1, Max: 100, Default: 1,
			Summary: "What the time limits of turns, checks and the setup are multiplied by; `timeoutMinutes` is not.",
			Details: "For a slow machine or a slow model.",
		},
		{
			Key: "waitForLimits", Kind: Boolean, Default: true,
			Summary: "Wait within a run for the known reset time of a usage limit, when that fits into `timeoutMinutes`.",
		},
		{
			Key: "setup", Default: "", Input: "setup",
			Summary: "A shell command that makes a fresh checkout ready for the checks, such as `npm ci`.",
			Details: "It takes at most 10 minutes. It runs in the checks' own tree before they run on the base commit, and again " +
				"when a manifest or " +
				"lock file changes, at any depth. The agent's checkout gets an installation of its own. Of what it makes, only " +
				"files that git ignores stay.",
			InputSays: "Command that makes a fresh checkout ready for the checks, such as npm ci.",
		},
		{
			Key: "setupInputs", Kind: List, Entry: texts(), MaxLen: maxEntries, Default: []string{},
			Summary: "Patterns of further files that the setup reads besides manifests and lock files, from the top: " +
				"`scripts/bootstrap/**`. " +
				"When one of them changes, it runs again.",
		},
		{Key: "judge", Kind: Object, Where: ForLaptop, Summary: "What the checks have besides the commit.",
			Unset: "without a setup, the checks are given the directories in which dependencies are installed", Keys: []Setting{{
				Key: "share", Kind: List, Entry: texts(), MaxLen: maxEntries,
				Summary: "Paths of the clone that git does not track: `.env`, `node_modules`.",
				Details: "The agent and the checks get copies, made before the first turn. See " +
					"[checks.md](checks.md#what-the-checks-see). Without it, and without a setup, the directories in which " +
					"dependencies are installed.",
			}}},
		{
			Key: "environment", Kind: List, MaxLen: maxEntries, Default: []string{},
			Entry: &Setting{Pattern: namePattern, Allowed: "a name such as DATABASE_URL, or a beginning and a star: MY_*"},
			Summary: "Environment variables that the agent and the checks get besides those that builds need: `DATABASE_URL`, " +
				"or `MY_*` for all that begin so.",
			Details: "The [list of those](#environment) is below. Names that look like a secret are left out of a pattern. Never " +
				"`GITHUB_*`, " +
				"`ACTIONS_*`, `RUNNER_*`, `INPUT_*` and `RALPH_*`.",
		},
	}
}
