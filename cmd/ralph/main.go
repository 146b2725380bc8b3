// Command ralph turns an issue into a reviewed pull request by running a coding agent until independent checks say that
// it is done.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// cli is the grammar of all commands, in the groups of ralph --help. Each group is built only if it is needed: an agent
// calls ralph hook beside each of its tools, and the grammar of all commands takes longer to build than that to run.
type cli struct {
	runs
	plans
	looks
	preparations
	workflows
	servers
	tools
	hooks
	manPages //nolint:unused // has a command in the build with the tag man
	versionFlag
}

type (
	runs struct {
		Run    runCommand    `cmd:"" group:"run" default:"withargs" help:"Run the agent until checks say that it is done: with a prompt, or on an issue or tasks in this clone. The default command."`
		Task   taskCommand   `cmd:"" group:"run" help:"Keep tasks as files: create, list, show, followup, and the prompt for an agent that writes them."`
		Hint   hintCommand   `cmd:"" group:"run" help:"Send a hint to the active run in this directory."`
		Cancel cancelCommand `cmd:"" group:"run" help:"Stop the run in this directory."`
	}
	plans struct {
		Plan planCommand `cmd:"" group:"run" help:"Work on a plan: many stories, each reviewed by a fresh context before it counts."`
	}
	looks struct {
		Status statusCommand `cmd:"" group:"look" help:"Show the newest run in this directory, or a task's."`
		Watch  watchCommand  `cmd:"" group:"look" help:"Show the newest run in this directory while it works: ralph status --watch."`
		Prompt promptCommand `cmd:"" group:"look" help:"Print the prompt of the next iteration, and change nothing."`
		Replay replayCommand `cmd:"" group:"look" help:"Show an agent's recorded output: as it was shown, and how ralph reads it."`
	}
	preparations struct {
		Init     initCommand     `cmd:"" group:"prepare" help:"Write the settings of this repository: ask for them, and write .ralph/settings.json; with --github, make its labels and propose its workflow."`
		Settings settingsCommand `cmd:"" group:"prepare" help:"Show or change the settings, or show their schema."`
		Doctor   doctorCommand   `cmd:"" group:"prepare" help:"Check that this machine is ready: agents, credentials, git, settings, checks; with --github, what the repository lacks there."`
		Clean    cleanCommand    `cmd:"" group:"prepare" help:"Remove what runs have left in this clone: branches, logs, records. They are listed first."`
	}
	workflows struct {
		Action actionCommand `cmd:"" group:"github" help:"Handle one event of a GitHub workflow: what action.yml runs. With --dry-run, print what an event would do, and why."`
		Sweep  sweepCommand  `cmd:"" group:"github" help:"List unfinished work: runs whose process died, and issues that wait with the label."`
	}
	tools struct {
		Supervise  superviseCommand  `cmd:"" group:"tools" help:"Run a command again and again until it says that its task is done."`
		Bus        busCommand        `cmd:"" group:"tools" help:"Send messages to ralph supervise, and read them."`
		Signature  signatureCommand  `cmd:"" group:"tools" help:"Print a failure's fingerprint: the hash of what does not change from run to run."`
		Completion completionCommand `cmd:"" group:"tools" help:"Print the shell completion of commands and flags."`
		Complete   completeCommand   `cmd:"" hidden:""`
	}
	hooks struct {
		Hook hookCommand `cmd:"" group:"tools" help:"What an agent's hooks call, and how to put them into its settings."`
	}
	versionFlag struct {
		Version kong.VersionFlag `short:"v" help:"Print the version and exit."`
	}
)

func main() { os.Exit(program()) }

// program runs the command line of this process and returns the exit code.
func program() int {
	if shortLived(os.Args[1:]) {
		debug.SetGCPercent(800)
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ralph: finding the current directory:", err)
		return loop.Invalid.ExitCode()
	}
	_ = proc.ForgetSecrets() // which we have read; where it does not work, a sandbox hides them
	notices := &shared{to: os.Stderr}
	i := newInterruption(notices, whereWeAre())
	i.exit = func(code int) {
		notices.leave()
		os.Exit(code)
	}
	i.listen()
	code := run(i, os.Args[1:], process{environ: os.Environ(), dir: dir, in: os.Stdin, out: os.Stdout, notices: notices},
		os.Stderr)
	i.notices.flush()
	notices.leave()
	return code
}

// whereWeAre finds the surroundings from the environment and the standard files.
func whereWeAre() surroundings {
	env, err := config.ReadEnvironment(environment(os.Environ()))
	return surroundings{
		job:         err != nil || env.Actions,
		interactive: func() bool { return !env.CI && isTerminal(os.Stderr) && isTerminal(os.Stdin) },
	}
}

// grammar is what a command line is read by.
func grammar(args []string) any {
	switch {
	case len(args) > 0 && args[0] == "hook":
		return &struct {
			hooks
			versionFlag
		}{}
	case len(args) > 0 && args[0] == "plan":
		return &struct {
			plans
			versionFlag
		}{}
	case len(args) > 0 && args[0] == "work":
		return &workCLI{}
	case len(args) == 1 && (args[0] == "--version" || args[0] == "-v"):
		return &struct{ versionFlag }{}
	}
	return &cli{}
}

// shortLived says that a command ends within milliseconds. Such a process is gone before a collection of its garbage
// pays.
func shortLived(args []string) bool {
	return len(args) > 0 && (args[0] == "hook" || args[0] == "--version" || args[0] == "-v")
}

// run runs one command line and returns its exit code.
func run(i *interruption, args []string, p process, stderr io.Writer) int {
	left := -1
	args = spelledOut(args)
	p.args = args
	p.out, stderr = safetext.NewConsole(p.out), safetext.NewConsole(stderr)
	parser, err := kong.New(grammar(args),
		kong.Name("ralph"), kong.Description("Turns an issue into a reviewed pull request."), kong.Vars{"version": programVersion()},
		kong.Help(printHelp),
		kong.BindToProvider(i.context), kong.BindToProvider(i.hardContext),
		kong.BindToProvider(i.drainContext), kong.Bind(p), kong.BindToProvider(process.session),
		kong.BindTo(stderr, (*io.Writer)(nil)), kong.Writers(p.out, stderr), kong.Exit(func(code int) { left = code }),
		kong.UsageOnError(),
		kong.ExplicitGroups(append(slices.Clone(commandGroups), kong.Group{Key: "what", Title: "Instead of a prompt:"},
			kong.Group{Key: "done", Title: "When an issue or a task is done:"})),
	)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	command, err := parser.Parse(args)
	if left >= 0 { // --help and --version
		return left
	}
	if err == nil {
		err = strayWords(args, command)
	}
	if err != nil {
		return misread(err, args, parser.Model.Node, p.out, stderr)
	}
	end := ended(i.ctx, command.Run())
	if end.err != nil && !invalid.Reported(end.err) {
		fmt.Fprintln(stderr, "ralph:", invalid.Text(end.err))
	}
	return end.code
}

// strayWords refuses words that no command has taken: alone they are a prompt only with whitespace in them, which no
// misspelled command has.
func strayWords(args []string, command *kong.Context) error {
	g, _ := command.Model.Target.Addr().Interface().(*cli)
	if g == nil || len(g.Run.Text) == 0 || args[0] == "run" || slices.Contains(args, "--") {
		return nil
	}
	for i, word := range g.Run.Text {
		if i > 0 || !strings.ContainsAny(word, " \t\n") {
			return fmt.Errorf("unexpected argument %s; put a prompt in quotes, or after ralph run", safetext.Shorten(word, 80))
		}
	}
	return nil
}
