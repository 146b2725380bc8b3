package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Site is where a tool is missing: what brings it depends on that.
type Site struct {
	Here    bool   // a person's own machine, rather than a job
	NoSetup bool   // nothing makes the directory ready: a run of a prompt
	Setup   string // what installs the project's own dependencies; "" nothing does, or it has run
}

// toolSteps are the steps of a workflow, before ralph's, that bring the tools that detected checks need; NAME is the tool. Versions of actions
// are such as GitHub's own documents name.
var toolSteps = []struct{ step, tools string }{
	{"- uses: actions/setup-go@v6", "go gofmt"},
	{"- run: go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest", "golangci-lint"},
	{"- uses: actions/setup-node@v6", "node npm npx"},
	{"- uses: pnpm/action-setup@v4", "pnpm"},
	{"- run: corepack enable", "yarn"},
	{"- run: npm install --global corepack", "corepack"},
	{"- uses: oven-sh/setup-bun@v2", "bun"},
	{"- uses: denoland/setup-deno@v2", "deno"},
	{"- uses: actions/setup-python@v6", "python3 python pip pipx"},
	{"- uses: astral-sh/setup-uv@v7", "uv"},
	{"- run: pipx install NAME", "poetry pdm pipenv hatch tox nox pre-commit"},
	{"- run: python3 -m pip install NAME", "pytest ruff mypy"},
	{"- uses: dtolnay/rust-toolchain@stable", "cargo rustc"},
	{"- run: rustup component add clippy", "cargo-clippy"},
	{"- run: rustup component add rustfmt", "cargo-fmt"},
	{"- uses: actions/setup-java@v5", "java javac mvn"},
	{"- uses: gradle/actions/setup-gradle@v5", "gradle"},
	{"- uses: sbt/setup-sbt@v1", "sbt"},
	{"- uses: DeLaGuardo/setup-clojure@13.4` with `lein: latest", "lein"},
	{"- uses: ruby/setup-ruby@v1", "ruby bundle rake rspec rubocop"},
	{"- run: sudo apt-get install --yes perl", "prove perl"},
	{"- run: sudo apt-get install --yes cpanminus", "cpanm"},
	{"- run: sudo apt-get install --yes lua-busted", "busted"},
	{"- uses: shivammathur/setup-php@v2", "php composer"},
	{"- uses: actions/setup-dotnet@v5", "dotnet"},
	{"- run: sudo apt-get install --yes cmake", "cmake ctest"},
	{"- run: sudo apt-get install --yes ninja-build", "ninja"},
	{"- run: pipx install meson ninja", "meson"},
	{"- run: sudo apt-get install --yes autoconf automake libtool", "autoreconf"},
	{"- run: sudo apt-get install --yes make", "make"},
	{"- run: sudo apt-get install --yes build-essential", "cc gcc g++"},
	{"- uses: extractions/setup-just@v3", "just"},
	{"- run: go install github.com/go-task/task/v3/cmd/task@latest", "task"},
	{"- uses: erlef/setup-beam@v1", "mix rebar3 gleam"},
	{"- uses: swift-actions/setup-swift@v2", "swift"},
	{"- uses: dart-lang/setup-dart@v1", "dart"},
	{"- uses: subosito/flutter-action@v2", "flutter"},
	{"- uses: haskell-actions/setup@v2` with `enable-stack: true", "stack"},
	{"- uses: haskell-actions/setup@v2", "cabal"},
	{"- uses: mlugg/setup-zig@v2", "zig"},
	{"- uses: bazelbuild/setup-bazelisk@v3", "bazel"},
}

// contained are the tools that ralph's container has.
var contained = []string{"git", "make", "node", "npm", "npx", "claude"}

// InstallAdvice is a sentence, without its full stop, about a tool that does not exist: what brings it. A step that runs a
// command brings it to a person's own machine, too, unless it needs root.
func InstallAdvice(name string, at Site) string {
	step := ""
	for _, row := range toolSteps {
		if slices.Contains(strings.Fields(row.tools), name) {
			step = strings.ReplaceAll(row.step, "NAME", name)
		}
	}
	missing := cmp.Or(name, "a program of the check") + " is not installed"
	command, runs := strings.CutPrefix(step, "- run: ")
	switch {
	case step != "" && !at.Here && slices.Contains(contained, name):
		return fmt.Sprintf("%s: add `%s` before ralph", missing, step)
	case step != "" && !at.Here:
		return fmt.Sprintf("%s: add `%s` before ralph, or install it in the setting setup; ralph's container has only git, "+
			"make, node and claude, so take the action in host/ for it", missing, step)
	case runs && !strings.HasPrefix(command, "sudo "):
		return fmt.Sprintf("%s: `%s` installs it", missing, command)
	case step == "" && name != "" && at.Setup != "":
		return missing + ", maybe because the dependencies are not: " + at.Prepare()
	case at.Here:
		return missing + ": install it, or change the check"
	}
	return missing + ": install it in a step before ralph or in the setting setup, or change the check"
}

// Prepare says what to do about dependencies that are not installed.
func (at Site) Prepare() string {
	switch {
	case at.NoSetup && at.Setup == "":
		return "install them"
	case at.NoSetup:
		return fmt.Sprintf("run `%s`", at.Setup)
	case at.Setup == "":
		return "put what installs them into the setting setup"
	}
	return fmt.Sprintf("put `%s` into the setting setup", at.Setup)
}

// absent are the ways in which programs say that another one does not exist. The name is the first group.
var absent = []*pattern{
	lazy(`(?m)^[\w./-]*sh(?:: line \d+|: \d+)?: ([\w.+-]+): (?:command )?not found\s*$`),
	lazy(`(?m)^(?:g?make)(?:\[\d+\])?: ([\w.+-]+): (?:No such file or directory|Command not found|Permission denied)\s*$`),
	lazy(`(?m)env: ['‘"]?([\w.+-]+)['’"]?: No such file or directory\s*$`),
	lazy(`(?m)(?:^|exec: )"([\w.+-]+)": executable file not found in`),
	lazy(`(?m)python[\d.]*(?:\.exe)?: No module named '?([\w-]+)'?\s*$`),
	lazy("(?m)^error: Failed to spawn: `([\\w.+-]+)`"),
	lazy(`(?m)^Command not found: ([\w.+-]+)\s*$`),
	lazy(`(?m)^bundler: command not found: ([\w.+-]+)\s*$`),
	lazy(`(?m)error: '([\w-]+)' is not installed for the toolchain`),
	lazy(`(?m)'([\w.+-]+)' is not recognized as an internal or external command`),
	lazy(`(?m)Could not find command-name: ([\w.+-]+)`),
}

// cargoCommand is a command of cargo that is a program of its own.
var cargoCommand = lazy("(?m)^error: no such command: `([\\w-]+)`")

// missed are the ways in which a runner of targets says that a command of one did not exist, whatever its own exit code
// is.
var missed = lazy(
	`(?m)^(?:g?make)(?:\[\d+\])?: \*\*\* .*Error 127\s*$|^task: Failed to run task .*exit status 127\b|^error: Recipe .*exit code 127\b|: No module named '?(?:pytest|ruff|mypy|unittest)'?\s*$|` +
		"^error: no such command: |is not installed for the toolchain|^error: Failed to spawn: |^bundler: command not " +
		"found: |^Command not found: ")

// Lacking reports whether the output of a check that failed says that a program did not exist, as programs say it that
// run others: make ends with 2 then, and python with 1; or that no version of it was there, as the managers of versions
// say it.
func Lacking(output string) bool {
	tool, _ := unchosen(output)
	return tool != "" || missed.MatchString(output) && MissingTool("", output) != ""
}

// LackAdvice is InstallAdvice for a check that lacks a program, by its command line and output.
func LackAdvice(command, output string, at Site) string {
	if _, advice := unchosen(output); advice != "" {
		return advice
	}
	return InstallAdvice(MissingTool(command, output), at)
}

const maxTool = 40 // of a name that is shown

// MissingTool is the program that did not exist, by the output of a check or else by the command line, of which it is
// the first word; "" when neither shows it. The name is plain, whatever the output is.
func MissingTool(command, output string) string {
	if tool, _ := unchosen(output); tool != "" {
		return tool
	}
	if found := cargoCommand.FindStringSubmatch(output); found != nil && len(found[1]) <= maxTool {
		return "cargo-" + found[1]
	}
	for _, p := range absent {
		if found := p.FindStringSubmatch(output); found != nil && len(found[1]) <= maxTool {
			return found[1]
		}
	}
	if environmentOf(command) != "" {
		return "python3" // nothing has made it
	}
	for word := range strings.FieldsSeq(command) {
		if assigns.MatchString(word) {
			continue
		}
		if safeName(word) && len(word) <= maxTool {
			return word
		}
		return ""
	}
	return ""
}

var assigns = lazy(`^[A-Za-z_][A-Za-z0-9_]*=`)

// uninstalled are the ways in which tools say that a project's dependencies are not installed. A path in the project
// does not count.
var uninstalled = lazy(
	`(?m)Cannot find (?:module|package) '[^./'][^']*'|Cannot find package '|node_modules missing|node_modules state file|doesn't seem to have been installed|` +
		`error TS2307: Cannot find module '[^./']|ModuleNotFoundError: No module named |Bundler::GemNotFound|Could not find [^\n]* in (?:any of the sources|locally installed gems)|` +
		`vendor/autoload\.php|Could not open input file: vendor/bin/|Unchecked dependencies for environment|Can't continue due to errors on dependencies|` +
		`(?:dart|flutter) pub get|run bundle install|^[\w./-]*sh(?:: line \d+|: \d+)?: [\w.+-]+: (?:command )?not found\s*$`)

// Uninstalled reports whether the output of a check that failed reads as if the project's dependencies were not
// installed.
func Uninstalled(output string) bool { return uninstalled.MatchString(output) }
