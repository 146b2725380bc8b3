package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Tool is a program that checks need, and what brings it.
type Tool struct {
	Name string // "pnpm"
	// Step of a workflow, before ralph's: "- uses: pnpm/action-setup@v4".
	Step string
	// Setup is a command for the setting setup that brings it too; "" none.
	Setup string
}

// Tools are all that detected checks need. Versions of actions are such as GitHub's own documents name.
var Tools = []Tool{
	{Name: "go", Step: "- uses: actions/setup-go@v6"},
	{Name: "gofmt", Step: "- uses: actions/setup-go@v6"},
	{Name: "golangci-lint", Step: "- uses: golangci/golangci-lint-action@v9` with `install-only: true"},
	{Name: "node", Step: "- uses: actions/setup-node@v6"},
	{Name: "npm", Step: "- uses: actions/setup-node@v6"},
	{Name: "npx", Step: "- uses: actions/setup-node@v6"},
	{Name: "pnpm", Step: "- uses: pnpm/action-setup@v4", Setup: "corepack enable"},
	{Name: "yarn", Step: "- run: corepack enable", Setup: "corepack enable"},
	{Name: "corepack", Step: "- run: npm install --global corepack"},
	{Name: "bun", Step: "- uses: oven-sh/setup-bun@v2", Setup: "npm install --global bun"},
	{Name: "deno", Step: "- uses: denoland/setup-deno@v2"},
	{Name: "python3", Step: "- uses: actions/setup-python@v6"},
	{Name: "python", Step: "- uses: actions/setup-python@v6"},
	{Name: "pip", Step: "- uses: actions/setup-python@v6"},
	{Name: "pipx", Step: "- uses: actions/setup-python@v6"},
	{Name: "uv", Step: "- uses: astral-sh/setup-uv@v7", Setup: "pipx install uv"},
	{Name: "poetry", Step: "- run: pipx install poetry", Setup: "pipx install poetry"},
	{Name: "pdm", Step: "- run: pipx install pdm", Setup: "pipx install pdm"},
	{Name: "pipenv", Step: "- run: pipx install pipenv", Setup: "pipx install pipenv"},
	{Name: "hatch", Step: "- run: pipx install hatch", Setup: "pipx install hatch"},
	{Name: "tox", Step: "- run: pipx install tox", Setup: "pipx install tox"},
	{Name: "nox", Step: "- run: pipx install nox", Setup: "pipx install nox"},
	{Name: "pre-commit", Step: "- run: pipx install pre-commit", Setup: "pipx install pre-commit"},
	{Name: "pytest", Step: "- run: python3 -m pip install pytest", Setup: "python3 -m pip install pytest"},
	{Name: "ruff", Step: "- run: python3 -m pip install ruff", Setup: "python3 -m pip install ruff"},
	{Name: "mypy", Step: "- run: python3 -m pip install mypy", Setup: "python3 -m pip install mypy"},
	{Name: "cargo", Step: "- uses: dtolnay/rust-toolchain@stable"},
	{Name: "rustc", Step: "- uses: dtolnay/rust-toolchain@stable"},
	{Name: "cargo-clippy", Step: "- uses: dtolnay/rust-toolchain@stable` with `components: clippy"},
	{Name: "cargo-fmt", Step: "- uses: dtolnay/rust-toolchain@stable` with `components: rustfmt"},
	{Name: "java", Step: "- uses: actions/setup-java@v5"},
	{Name: "javac", Step: "- uses: actions/setup-java@v5"},
	{Name: "mvn", Step: "- uses: actions/setup-java@v5"},
	{Name: "gradle", Step: "- uses: gradle/actions/setup-gradle@v5"},
	{Name: "sbt", Step: "- uses: sbt/setup-sbt@v1"},
	{Name: "lein", Step: "- uses: DeLaGuardo/setup-clojure@13.4` with `lein: latest"},
	{Name: "ruby", Step: "- uses: ruby/setup-ruby@v1"},
	{Name: "bundle", Step: "- uses: ruby/setup-ruby@v1"},
	{Name: "rake", Step: "- uses: ruby/setup-ruby@v1"},
	{Name: "rspec", Step: "- uses: ruby/setup-ruby@v1"},
	{Name: "rubocop", Step: "- uses: ruby/setup-ruby@v1"},
	{Name: "php", Step: "- uses: shivammathur/setup-php@v2"},
	{Name: "composer", Step: "- uses: shivammathur/setup-php@v2"},
	{Name: "dotnet", Step: "- uses: actions/setup-dotnet@v5"},
	{Name: "cmake", Step: "- run: sudo apt-get install --yes cmake"},
	{Name: "ctest", Step: "- run: sudo apt-get install --yes cmake"},
	{Name: "ninja", Step: "- run: sudo apt-get install --yes ninja-build"},
	{Name: "meson", Step: "- run: pipx install meson ninja", Setup: "pipx install meson ninja"},
	{Name: "autoreconf", Step: "- run: sudo apt-get install --yes autoconf automake libtool"},
	{Name: "make", Step: "- run: sudo apt-get install --yes make"},
	{Name: "cc", Step: "- run: sudo apt-get install --yes build-essential"},
	{Name: "gcc", Step: "- run: sudo apt-get install --yes build-essential"},
	{Name: "g++", Step: "- run: sudo apt-get install --yes build-essential"},
	{Name: "just", Step: "- uses: extractions/setup-just@v3"},
	{Name: "task", Step: "- uses: arduino/setup-task@v2"},
	{Name: "mix", Step: "- uses: erlef/setup-beam@v1"},
	{Name: "rebar3", Step: "- uses: erlef/setup-beam@v1"},
	{Name: "gleam", Step: "- uses: erlef/setup-beam@v1"},
	{Name: "swift", Step: "- uses: swift-actions/setup-swift@v2"},
	{Name: "dart", Step: "- uses: dart-lang/setup-dart@v1"},
	{Name: "flutter", Step: "- uses: subosito/flutter-action@v2"},
	{Name: "stack", Step: "- uses: haskell-actions/setup@v2` with `enable-stack: true"},
	{Name: "cabal", Step: "- uses: haskell-actions/setup@v2"},
	{Name: "zig", Step: "- uses: mlugg/setup-zig@v2"},
	{Name: "bazel", Step: "- uses: bazelbuild/setup-bazelisk@v3"},
}

// contained are the tools that ralph's container has.
var contained = []string{"git", "make", "node", "npm", "npx", "claude"}

// InstallAdvice is a sentence, without its full stop, about a tool that is not there: what brings it. setup is the
// command that installs the project's own dependencies, for a tool that no table knows: it may well be one of them; ""
// there is none.
func InstallAdvice(name, setup string) string {
	i := slices.IndexFunc(Tools, func(t Tool) bool { return t.Name == name })
	switch {
	case i >= 0:
		return Tools[i].advice()
	case name == "":
		return "a program of the check is not installed: install it in a step before ralph or in the setting setup, or " +
			"change the check"
	case setup != "":
		return fmt.Sprintf("%s is not installed, maybe because the dependencies are not: put `%s` into the setting setup",
			name, setup)
	}
	return fmt.Sprintf("%s is not installed: install it in a step before ralph or in the setting setup, or change the "+
		"check", name)
}

func (t Tool) advice() string {
	text := fmt.Sprintf("%s is not installed: add `%s` before ralph", t.Name, t.Step)
	if t.Setup != "" {
		text += fmt.Sprintf(", or put `%s` into the setting setup", t.Setup)
	}
	if !slices.Contains(contained, t.Name) {
		text += "; ralph's container has only git, make, node and claude, so take the action in host/ for it"
	}
	return text
}

// absent are the ways in which programs say that another one is not there. The name is the first group.
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

// Lacking reports whether the output of a check that failed says that a program was not there, as programs say it that
// run others: make ends with 2 then, and python with 1; or that no version of it was there, as the managers of versions
// say it.
func Lacking(output string) bool {
	tool, _ := Unchosen(output)
	return tool != "" || missed.MatchString(output) && MissingTool("", output) != ""
}

// LackAdvice is InstallAdvice for a check that lacks a program, by its command line and output.
func LackAdvice(command, output, setup string) string {
	if _, advice := Unchosen(output); advice != "" {
		return advice
	}
	return InstallAdvice(MissingTool(command, output), setup)
}

const maxTool = 40 // of a name that is shown

// MissingTool is the program that was not there, by the output of a check or else by the command line, of which it is
// the first word; "" when neither shows it. The name is plain, whatever the output is.
func MissingTool(command, output string) string {
	if found := cargoCommand.FindStringSubmatch(output); found != nil && len(found[1]) <= maxTool {
		return "cargo-" + found[1]
	}
	for _, p := range absent {
		if found := p.FindStringSubmatch(output); found != nil && len(found[1]) <= maxTool {
			return found[1]
		}
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

// uninstalled are the ways in which it is told that a project's dependencies are not there. A path of the project's own
// is none.
var uninstalled = lazy(
	`(?m)Cannot find (?:module|package) '[^./'][^']*'|Cannot find package '|node_modules missing|node_modules state file|doesn't seem to have been installed|` +
		`error TS2307: Cannot find module '[^./']|ModuleNotFoundError: No module named |Bundler::GemNotFound|Could not find [^\n]* in (?:any of the sources|locally installed gems)|` +
		`vendor/autoload\.php|Could not open input file: vendor/bin/|Unchecked dependencies for environment|Can't continue due to errors on dependencies|` +
		`(?:dart|flutter) pub get|run bundle install|^[\w./-]*sh(?:: line \d+|: \d+)?: [\w.+-]+: (?:command )?not found\s*$`)

// Uninstalled reports whether the output of a check that failed reads as if the project's dependencies were not
// installed.
func Uninstalled(output string) bool { return uninstalled.MatchString(output) }
