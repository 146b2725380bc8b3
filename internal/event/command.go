package event

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Verb is what a request asks ralph to do.
type Verb string

// The verbs of the comment command, and the sweep that a schedule asks for.
const (
	Run        Verb = "run"
	Retry      Verb = "retry"
	Continue   Verb = "continue" // continue with a run that waits or was interrupted, with an answer
	Accept     Verb = "accept"   // accept findings about the change by name, and continue
	Fix        Verb = "fix"      // work on what the reviews of the pull request ask for
	Stop       Verb = "stop"     // end the run; what is done is kept
	Hint       Verb = "hint"     // send a hint to the active run
	Plan       Verb = "plan"     // derive a plan from the issue and post it
	Approve    Verb = "approve"  // run the plan that was posted, as it is written now
	Status     Verb = "status"
	Help       Verb = "help"
	Sweep      Verb = "sweep"
	OnCIResult Verb = "ci" // other workflows have judged the run's newest commit
)

// Command is one /ralph line, taken apart.
type Command struct {
	Verb          Verb
	Fresh         bool     // retry --fresh: start from the base again
	MaxIterations int      // retry --max-iterations N; 0 when not given
	Hint          string   // what follows, for the agent: the maintainer's words
	Accepts       []string // of accept: the names, or "all"
}

// verbs is the table of comment commands with what each takes, in the order help shows them.
var verbs = []struct {
	verb   Verb
	asking Trigger
	takes  string
	does   string
}{
	{Run, ByRun, "[hint]", "start working on this issue; the hint goes to the agent"},
	{Retry, ByRetry, "[--fresh] [--max-iterations N] [hint]",
		"resume a failed run with what was tried; --fresh starts over from the base branch"},
	{Continue, ByContinue, "[answer]", "resume a run that is waiting or was stopped; the answer goes to the agent"},
	{Accept, ByAccept, "NAME…|all", "accept findings by their names, or all of them, and resume the run"},
	{Fix, ByFix, "[hint]", "address the reviews of the pull request, and answer every open thread"},
	{Stop, ByStop, "", "stop the run and keep its work"},
	{Hint, ByHint, "TEXT", "send a hint to the active run: the next turn or review reads it, and all later ones"},
	{Plan, ByPlan, "[hint]", "derive a plan from this issue and post it as a comment, which you can edit; the hint goes to the " +
		"agent"},
	{Approve, ByApprove, "", "run the latest plan on this issue as it is written now"},
	{Status, ByStatus, "", "show the status of the run"},
	{Help, ByHelp, "", "show this"},
}

// UsageError is a command that was meant for ralph and cannot be followed. Its text is one line for the person who
// wrote it.
type UsageError struct{ Found, Allowed string }

func (e *UsageError) Error() string {
	return fmt.Sprintf("%s is not understood; allowed: %s", e.Found, e.Allowed)
}

// whiteSpace is what may be before the phrase and after it: nothing that the condition of a workflow's job, which
// compares with the character behind the space, would take for a letter.
const whiteSpace = " \t\r\n\v\f\u00a0"

// ParseCommand reads a command from a comment. ok is false when the comment is not addressed to ralph: the phrase is
// not its first word, or is in a quote or a code block. An error is a *UsageError: addressed to ralph, but not
// understood.
func ParseCommand(body, phrase string) (cmd Command, ok bool, err error) {
	if strings.HasPrefix(body, "    ") || strings.HasPrefix(body, "\t") { // an indented code block
		return Command{}, false, nil
	}
	text := strings.TrimLeft(body, whiteSpace)
	if phrase == "" || len(text) < len(phrase) || !strings.EqualFold(text[:len(phrase)], phrase) { // phones write /Ralph
		return Command{}, false, nil
	}
	rest := text[len(phrase):]
	if spaced := strings.TrimLeft(rest, ":,"); len(spaced) < len(rest) && strings.TrimLeft(spaced, whiteSpace) != spaced {
		rest = spaced // "/ralph: run"
	}
	if rest != "" && strings.IndexAny(rest, whiteSpace) != 0 { // "/ralphs", "/ralph:run"
		return Command{}, false, nil
	}
	rest = written(rest)
	// strings.Fields would join the hint's lines; only its first word matters here.
	word, hint := cutWord(rest)
	if word == "" {
		return Command{Verb: Help}, true, nil
	}
	for _, v := range verbs {
		if !strings.EqualFold(word, string(v.verb)) {
			continue
		}
		cmd := Command{Verb: v.verb, Hint: hint}
		if v.verb == Accept {
			cmd.Accepts, cmd.Hint = names(hint), ""
			if len(cmd.Accepts) == 0 {
				return Command{}, true, &UsageError{Found: "“accept” without a name", Allowed: "the names of findings, as the " +
					"report gives them, or “all”"}
			}
		}
		if v.verb == Hint && hint == "" {
			return Command{}, true, &UsageError{Found: "“hint” without a text", Allowed: "what the agent should know, after it"}
		}
		if v.verb == Retry {
			if err := cmd.takeFlags(); err != nil {
				return Command{}, true, err
			}
		}
		return cmd, true, nil
	}
	return Command{}, true, &UsageError{Found: quote(word), Allowed: allowedVerbs()}
}

// mailEnds are lines of a mail that end what someone has written in it: what they answer to follows, or a signature.
var mailEnds = regex.Lazy(`^(?:(?:On|Am|Le|El|Il|Op) .{5,200}(?:wrote|schrieb|écrit|escribió|scritto|schreef).{0,80}:|-- ?|` +
	`—|_{5,}|-{3,} ?Original Message ?-{3,}|Reply to this email directly.*|Sent from my .*|You are receiving this because.*)$`)

// written is what someone has written in a comment that may have come by mail: without quoted lines and what a mail
// program adds.
func written(text string) string {
	var kept []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, whiteSpace)
		wrapped := line
		if i+1 < len(lines) { // "On Mon, 2 Mar 2026, Jo <jo@example.com>" and "wrote:"
			wrapped += " " + strings.TrimSpace(lines[i+1])
		}
		if i > 0 && (mailEnds.MatchString(line) || mailEnds.MatchString(wrapped)) {
			break
		}
		if !strings.HasPrefix(line, ">") {
			kept = append(kept, lines[i])
		}
	}
	return strings.Join(kept, "\n")
}

// mostNames is how many names one comment may accept.
const mostNames = 100

// named are the names of an accept: words, of which one in quotes or backticks may hold spaces.
var named = regex.Lazy(`"[^"]*"|` + "`[^`]*`" + `|“[^”]*”|'[^']*'|\S+`)

// names takes the names of an accept apart, on any line.
func names(text string) (list []string) {
	for _, name := range named.FindAllString(text, mostNames) {
		name = strings.TrimSpace(strings.Trim(strings.TrimSuffix(name, ","), "\"`“”'"))
		if name != "" {
			list = append(list, name)
		}
	}
	return list
}

func (c *Command) takeFlags() error {
	for {
		for _, dash := range []string{"—", "–"} { // phones write them for "--"
			rest, ok := strings.CutPrefix(c.Hint, dash)
			if ok && (strings.HasPrefix(rest, "fresh") || strings.HasPrefix(rest, "max-iterations")) {
				c.Hint = "--" + rest
			}
		}
		if !strings.HasPrefix(c.Hint, "--") {
			return nil
		}
		word, rest := cutWord(c.Hint)
		name, value, hasValue := strings.Cut(word, "=")
		switch name {
		case "--fresh":
			if hasValue {
				return &UsageError{quote(word), "--fresh without a value"}
			}
			c.Fresh = true
		case "--max-iterations":
			if !hasValue {
				value, rest = cutWord(rest)
			}
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 100 {
				return &UsageError{"--max-iterations " + quote(value), "a whole number from 1 to 100"}
			}
			c.MaxIterations = n
		default:
			return &UsageError{quote(word), "--fresh, --max-iterations N"}
		}
		c.Hint = rest
	}
}

// cutWord splits s at the first white space after its first word; the rest keeps its own lines.
func cutWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// quote shows what someone typed, short and harmless wherever it is printed.
func quote(word string) string {
	const most = 40
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != '`' && r != '@' && r != '#' && r != '<' {
			return r
		}
		return '?'
	}, word))
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return "“" + string(runes) + "”"
}

func allowedVerbs() string {
	var names []string
	for _, v := range verbs {
		names = append(names, string(v.verb))
	}
	return strings.Join(names, ", ")
}

// HelpText is the answer to /ralph help, in Markdown.
func HelpText(phrase string) string {
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "| `%s` | %s |\n",
			strings.TrimSpace(phrase+" "+string(v.verb)+" "+strings.ReplaceAll(v.takes, "|", "\\|")), v.does)
	}
	return b.String()
}
