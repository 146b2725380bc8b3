package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Input is a row of InputTable.
type Input struct {
	Name        string
	Default     string
	Description string

	kind     kindOf
	min, max int64
}

// kindOf says what an input's value must look like.
type kindOf int

const (
	text kindOf = iota
	secret
	number
	boolean
	money // US dollars
)

// The largest numbers that make sense; they also keep a typing error from costing a month of turns.
const (
	mostIterations = 10_000
	mostMinutes    = 7200
	mostTasks      = 100
	mostDollars    = 100_000
	mostTokens     = 1 << 40
	mostReviews    = 100
	mostIssue      = 1<<31 - 1
	mostAppID      = 1 << 53
)

// InputTable is every input of the action: action.yml and host/action.yml are held against it by a test.
var InputTable = []Input{
	{Name: "github_token", kind: secret, Default: "${{ github.token }}",
		Description: "Token ralph reads and writes GitHub with. The agent and the checks never see it."},
	{Name: "app_id", kind: number, min: 1, max: mostAppID,
		Description: "Id of a GitHub App to act as instead of github_token; needs app_private_key."},
	{Name: "app_private_key", kind: secret, Description: "Private key of the GitHub App, as PEM."},
	{Name: "trigger_label", Default: "ralph", Description: "Label on an issue that starts a run."},
	{Name: "trigger_phrase", Default: "/ralph", Description: "First word of a comment that is a command."},
	{Name: "allowed_bots", Description: "Exact logins of bots that may ask, separated by commas or white space."},
	{Name: "include_comments_by", Default: "writers", Description: "Whose comments the agent reads: writers (people with write access), logins beside or instead of it, or nobody; separated by commas or white space."},
	{Name: "prompt", Description: "What to do, for workflow_dispatch. Not together with prompt_file or issue."},
	{Name: "prompt_file", Description: "File in the repository that says what to do. Not together with prompt or issue."},
	{Name: "issue", kind: number, min: 1, max: mostIssue, Description: "Number of the issue to work on, for workflow_dispatch; on a schedule, the only one that is looked at."},
	{Name: "plan", Description: "Plan in the repository to run, such as ralph/tasks.json, for workflow_dispatch; on a schedule, the only one that is looked at."},
	{Name: "agent", Description: "Coding agent: claude, codex, amp, gemini, opencode, or the path of a program that takes a prompt on standard input. Default: claude."},
	{Name: "agent_args", Description: "Arguments added to the agent's own, quoted as in a shell."},
	{Name: "model", Description: "Model of the agent. Default: the agent's own."},
	{Name: "reviewer_agent", Description: "Agent that reviews. Default: the one that works."},
	{Name: "reviewer_model", Description: "Model of the reviewer. Default: the agent's."},
	{Name: "anthropic_api_key", kind: secret, Description: "API key for claude."},
	{Name: "claude_code_oauth_token", kind: secret, Description: "Subscription token for claude, instead of an API key."},
	{Name: "openai_api_key", kind: secret, Description: "API key for codex."},
	{Name: "gemini_api_key", kind: secret, Description: "API key for gemini."},
	{Name: "checks", Description: "Commands that judge the work, one a line, in their order. Default: the guardrails of " +
		".ralph/settings.json, else what the repository shows (make test, npm test, go test, ...)."},
	{Name: "setup", Description: "Command that makes a fresh checkout ready for the checks, such as npm ci."},
	{Name: "max_iterations", kind: number, min: 1, max: mostIterations, Description: "How many iterations a run may take. Default: 5 for an issue."},
	{Name: "timeout_minutes", kind: number, min: 1, max: mostMinutes,
		Description: "How many minutes a run may take; keep it below the job's timeout-minutes. Default: 60."},
	{Name: "max_cost_usd", kind: money, max: mostDollars, Description: "How many US dollars a run may spend, as far as the agent tells. Default: any amount."},
	{Name: "max_cost_usd_per_issue", kind: money, max: mostDollars, Description: "How many US dollars all runs of one issue may spend together. Default: any amount."},
	{Name: "max_tokens", kind: number, min: 1, max: mostTokens, Description: "How many tokens a run may take, those of the model's cache included. Default: any number."},
	{Name: "review", kind: boolean, Description: "Whether a fresh reviewer must approve before a run is done. Default: true."},
	{Name: "review_cap", kind: number, min: 1, max: mostReviews,
		Description: "How many reviews a story of a plan may take before it is approved all the same, and marked so. Default: 5."},
	{Name: "at_review_cap", Description: "What becomes of a story of a plan that its last review does not approve: approve passes it, marked so, fail ends the run. Default: approve."},
	{Name: "ci_gate", Description: "Whether other workflows judge too: off, or wait for those on the pull request's head. Default: off."},
	{Name: "ci_timeout_minutes", kind: number, min: 1, max: mostMinutes, Description: "How many minutes a run waits for other workflows before it pauses and says so. Default: 30."},
	{Name: "base_branch", Description: "Branch to start from and to open the pull request against. Default: the default branch."},
	{Name: "branch_prefix", Default: "ralph/", Description: "What the name of a run's branch begins with."},
	{Name: "branch_name_template", Description: "Name of a run's branch after the prefix, with {{.Task}}, {{.Issue}} and {{.Slug}}. Default: the task, such as issue-42."},
	{Name: "working_directory", Description: "Directory of the repository that the agent and the checks work in. Default: its top."},
	{Name: "signing_key", kind: secret, Description: "SSH private key, without a passphrase, that signs the commits."},
	{Name: "comments", Description: "How a run is told: sticky, one comment that is kept up to date, or each, one comment more for each iteration. Default: sticky."},
	{Name: "notify_on", Description: "Which outcomes whoever asked is told of, by a mention, a request for a review and an assignment: done, failed, waiting, separated by commas or white space, or nobody. Default: all three."},
	{Name: "sandbox", Description: "What the agent and the checks are kept in: auto, bwrap, landlock, container, docker-sandbox, off or require. Default: auto."},
	{Name: "dry_run", kind: boolean, Default: "false", Description: "Do everything but write to GitHub; reports go to the job summary."},
	{Name: "max_tasks", kind: number, min: 1, max: mostTasks, Default: "1", Description: "How many tasks one scheduled sweep works on."},
	{Name: "list", kind: boolean, Default: "false", Description: "On a schedule, only say what a sweep would take up, as the output matrix."},
	{Name: "settings", Description: "Settings as JSON, laid over .ralph/settings.json of the base commit."},
}

// Env is the variable the runner passes the input in.
func (i Input) Env() string { return "INPUT_" + strings.ToUpper(i.Name) }

// check returns the value in the form env reads, or what is wrong with it.
func (i Input) check(value string) (checked, problem string) {
	switch i.kind {
	case number:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < i.min || n > i.max {
			return "", fmt.Sprintf("input %s is %s; allowed is a whole number from %d to %d.", i.Name, show(value), i.min, i.max)
		}
		return strconv.FormatInt(n, 10), ""
	case money:
		usd, err := strconv.ParseFloat(value, 64)
		if err != nil || !(usd > 0 && usd <= float64(i.max)) {
			return "", fmt.Sprintf("input %s is %s; allowed is a number above 0 and up to %d, such as 2.50.", i.Name, show(value), i.max)
		}
		return strconv.FormatFloat(usd, 'f', -1, 64), ""
	case boolean: // as YAML writes them
		if checked = strings.ToLower(value); checked != "true" && checked != "false" {
			return "", fmt.Sprintf("input %s is %s; allowed is true or false.", i.Name, show(value))
		}
		return checked, ""
	}
	return value, ""
}

// Output is a row of OutputTable.
type Output struct {
	Name        string
	Description string
}

// OutputTable is every output of the action (B-23). Outputs carry only enums, numbers, names and addresses, never an agent's text.
var OutputTable = []Output{
	{"conclusion", "success, failure, neutral or cancelled."},
	{"outcome", "done, capped, stuck, timeout, budget, failed, invalid, waiting, refused, interrupted, or empty when the event was not for ralph."},
	{"pr_url", "Address of the pull request."},
	{"pr_number", "Number of the pull request."},
	{"branch_name", "Branch with the work."},
	{"failure_branch", "Branch that keeps the work of a run stopped by a limit."},
	{"iterations", "Number of iterations."},
	{"total_cost_usd", "What the agent says the run cost, in US dollars."},
	{"input_tokens", "Tokens sent to the model, without those of the cache."},
	{"output_tokens", "Tokens the model answered."},
	{"cache_read_tokens", "Tokens read from the model's cache."},
	{"cache_write_tokens", "Tokens written to the model's cache."},
	{"report_file", "File with the report, as a web page."},
	{"matrix", "What a sweep would take up, with the input list; in the form that strategy.matrix takes."},
}
