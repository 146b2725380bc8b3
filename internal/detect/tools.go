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
	// Here is what brings it on a person's own machine: a command, or the address of who makes it. "" stands for the
	// system's package manager.
	Here string
}

// Site is where a tool is missing: what brings it depends on that.
type Site struct {
	Here    bool   // a person's own machine, rather than a job
	NoSetup bool   // nothing makes the directory ready: a run of a prompt
	Setup   string // what installs the project's own dependencies; "" nothing does, or it has run
}

// Tools are all that detected checks need. Versions of actions are such as GitHub's own documents name.
var Tools = []Tool{
	{Name: "go", Step: "- uses: actions/setup-go@v6", Here: "https://go.dev/dl/"},
	{Name: "gofmt", Step: "- uses: actions/setup-go@v6", Here: "https://go.dev/dl/"},
	{Name: "golangci-lint", Step: "- uses: golangci/golangci-lint-action@v9` with `install-only: true",
		Here: "go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest"},
	{Name: "node", Step: "- uses: actions/setup-node@v6", Here: "https://nodejs.org/"},
	{Name: "npm", Step: "- uses: actions/setup-node@v6", Here: "https://nodejs.org/"},
	{Name: "npx", Step: "- uses: actions/setup-node@v6", Here: "https://nodejs.org/"},
	{Name: "pnpm", Step: "- uses: pnpm/action-setup@v4", Setup: "corepack enable", Here: "npm install --global pnpm"},
	{Name: "yarn", Step: "- run: corepack enable", Setup: "corepack enable", Here: "corepack enable"},
	{Name: "corepack", Step: "- run: npm install --global corepack", Here: "npm install --global corepack"},
	{Name: "bun", Step: "- uses: oven-sh/setup-bun@v2", Setup: "npm install --global bun",
		Here: "npm install --global bun"},
	{Name: "deno", Step: "- uses: denoland/setup-deno@v2", Here: "https://deno.com/"},
	{Name: "python3", Step: "- uses: actions/setup-python@v6", Here: "https://www.python.org/downloads/"},
	{Name: "python", Step: "- uses: actions/setup-python@v6", Here: "https://www.python.org/downloads/"},
	{Name: "pip", Step: "- uses: actions/setup-python@v6", Here: "python3 -m ensurepip"},
	{Name: "pipx", Step: "- uses: actions/setup-python@v6", Here: "python3 -m pip install --user pipx"},
	{Name: "uv", Step: "- uses: astral-sh/setup-uv@v7", Setup: "pipx install uv", Here: "pipx install uv"},
	{Name: "poetry", Step: "- run: pipx install poetry", Setup: "pipx install poetry", Here: "pipx install poetry"},
	{Name: "pdm", Step: "- run: pipx install pdm", Setup: "pipx install pdm", Here: "pipx install pdm"},
	{Name: "pipenv", Step: "- run: pipx install pipenv", Setup: "pipx install pipenv", Here: "pipx install pipenv"},
	{Name: "hatch", Step: "- run: pipx install hatch", Setup: "pipx install hatch", Here: "pipx install hatch"},
	{Name: "tox", Step: "- run: pipx install tox", Setup: "pipx install tox", Here: "pipx install tox"},
	{Name: "nox", Step: "- run: pipx install nox", Setup: "pipx install nox", Here: "pipx install nox"},
	{Name: "pre-commit", Step: "- run: pipx install pre-commit", Setup: "pipx install pre-commit",
		Here: "pipx install pre-commit"},
	{Name: "pytest", Step: "- run: python3 -m pip install pytest", Setup: "python3 -m pip install pytest",
		Here: "python3 -m pip install pytest"},
	{Name: "ruff", Step: "- run: python3 -m pip install ruff", Setup: "python3 -m pip install ruff",
		Here: "python3 -m pip install ruff"},
	{Name: "mypy", Step: "- run: python3 -m pip install mypy", Setup: "python3 -m pip install mypy",
		Here: "python3 -m pip install mypy"},
	{Name: "cargo", Step: "- uses: dtolnay/rust-toolchain@stable", Here: "https://rustup.rs/"},
	{Name: "rustc", Step: "- uses: dtolnay/rust-toolchain@stable", Here: "https://rustup.rs/"},
	{Name: "cargo-clippy", Step: "- uses: dtolnay/rust-toolchain@stable` with `components: clippy",
		Here: "rustup component add clippy"},
	{Name: "cargo-fmt", Step: "- uses: dtolnay/rust-toolchain@stable` with `components: rustfmt",
		Here: "rustup component add rustfmt"},
	{Name: "java", Step: "- uses: actions/setup-java@v5", Here: "https://adoptium.net/"},
	{Name: "javac", Step: "- uses: actions/setup-java@v5", Here: "https://adoptium.net/"},
	{Name: "mvn", Step: "- uses: actions/setup-java@v5", Here: "https://maven.apache.org/"},
	{Name: "gradle", Step: "- uses: gradle/actions/setup-gradle@v5", Here: "https://gradle.org/"},
	{Name: "sbt", Step: "- uses: sbt/setup-sbt@v1", Here: "https://www.scala-sbt.org/"},
	{Name: "lein", Step: "- uses: DeLaGuardo/setup-clojure@13.4` with `lein: latest", Here: "https://leiningen.org/"},
	{Name: "ruby", Step: "- uses: ruby/setup-ruby@v1", Here: "https://www.ruby-lang.org/"},
	{Name: "bundle", Step: "- uses: ruby/setup-ruby@v1", Here: "gem install bundler"},
	{Name: "rake", Step: "- uses: ruby/setup-ruby@v1", Here: "gem install rake"},
	{Name: "rspec", Step: "- uses: ruby/setup-ruby@v1", Here: "gem install rspec"},
	{Name: "rubocop", Step: "- uses: ruby/setup-ruby@v1", Here: "gem install rubocop"},
	{Name: "prove", Step: "- run: sudo apt-get install --yes perl", Here: "https://www.perl.org/get.html"},
	{Name: "perl", Step: "- run: sudo apt-get install --yes perl", Here: "https://www.perl.org/get.html"},
	{Name: "cpanm", Step: "- run: sudo apt-get install --yes cpanminus", Here: "cpan App::cpanminus"},
	{Name: "busted", Step: "- run: sudo apt-get install --yes lua-busted", Here: "luarocks install busted"},
	{Name: "php", Step: "- uses: shivammathur/setup-php@v2", Here: "https://www.php.net/"},
	{Name: "composer", Step: "- uses: shivammathur/setup-php@v2", Here: "https://getcomposer.org/"},
	{Name: "dotnet", Step: "- uses: actions/setup-dotnet@v5", Here: "https://dotnet.microsoft.com/download"},
	{Name: "cmake", Step: "- run: sudo apt-get install --yes cmake", Here: "pipx install cmake"},
	{Name: "ctest", Step: "- run: sudo apt-get install --yes cmake", Here: "pipx install cmake"},
	{Name: "ninja", Step: "- run: sudo apt-get install --yes ninja-build", Here: "pipx install ninja"},
	{Name: "meson", Step: "- run: pipx install meson ninja", Setup: "pipx install meson ninja",
		Here: "pipx install meson ninja"},
	{Name: "autoreconf", Step: "- run: sudo apt-get install --yes autoconf automake libtool"},
	{Name: "make", Step: "- run: sudo apt-get install --yes make"},
	{Name: "cc", Step: "- run: sudo apt-get install --yes build-essential"},
	{Name: "gcc", Step: "- run: sudo apt-get install --yes build-essential"},
	{Name: "g++", Step: "- run: sudo apt-get install --yes build-essential"},
	{Name: "just", Step: "- uses: extractions/setup-just@v3", Here: "cargo install just"},
	{Name: "task", Step: "- uses: arduino/setup-task@v2",
		Here: "go install github.com/go-task/task/v3/cmd/task@latest"},
	{Name: "mix", Step: "- uses: erlef/setup-beam@v1", Here: "https://elixir-lang.org/"},
	{Name: "rebar3", Step: "- uses: erlef/setup-beam@v1", Here: "https://rebar3.org/"},
	{Name: "gleam", Step: "- uses: erlef/setup-beam@v1", Here: "https://gleam.run/"},
	{Name: "swift", Step: "- uses: swift-actions/setup-swift@v2", Here: "https://www.swift.org/"},
	{Name: "dart", Step: "- uses: dart-lang/setup-dart@v1", Here: "https://dart.dev/"},
	{Name: "flutter", Step: "- uses: subosito/flutter-action@v2", Here: "https://flutter.dev/"},
	{Name: "stack", Step: "- uses: haskell-actions/setup@v2` with `enable-stack: true",
		Here: "https://www.haskell.org/ghcup/"},
	{Name: "cabal", Step: "- uses: haskell-actions/setup@v2", Here: "https://www.haskell.org/ghcup/"},
	{Name: "zig", Step: "- uses: mlugg/setup-zig@v2", Here: "https://ziglang.org/"},
	{Name: "bazel", Step: "- uses: bazelbuild/setup-bazelisk@v3", Here: "npm install --global @bazel/bazelisk"},
}

// contained are the tools that ralph's container has.
var contained = []string{"git", "make", "node", "npm", "npx", "claude"}

// InstallAdvice is a sentence, without its full stop, about a tool that does not exist: what brings it. command is the
// check's, for a tool of node that the project itself would have to name.
func InstallAdvice(name, command string, at Site) string {
	i := slices.IndexFunc(Tools, func(t Tool) bool { return t.Name == name })
	adds := addsPackage(name, command)
	switch {
	case i >= 0 && at.Here && slices.Contains(pythonModules, name) && environmentOf(command) != "":
		return fmt.Sprintf("%s is not installed: `%s -m pip install %s` installs it", name,
			interpreter(environmentOf(command)), name)
	case i >= 0 && at.Here:
		return Tools[i].adviceHere()
	case i >= 0:
		return Tools[i].advice()
	case name == "" && at.Here:
		return "a program of the check is not installed: install it, or change the check"
	case name == "":
		return "a program of the check is not installed: install it in a step before ralph or in the setting setup, or " +
			"change the check"
	case at.Setup != "":
		return fmt.Sprintf("%s is not installed, maybe because the dependencies are not: %s", name, at.Prepare())
	case at.Here && adds != "":
		return fmt.Sprintf("%s is not installed: `%s` adds it to the project", name, adds)
	case at.Here:
		return fmt.Sprintf("%s is not installed: install it, or change the check", name)
	}
	return fmt.Sprintf("%s is not installed: install it in a step before ralph or in the setting setup, or change the "+
		"check", name)
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

func (t Tool) adviceHere() string { return t.Name + " is not installed: " + t.brings() }

// brings says what brings the tool on a person's own machine.
func (t Tool) brings() string {
	switch {
	case t.Here == "":
		return "install it with your system's package manager"
	case strings.HasPrefix(t.Here, "https://"):
		return "get it from " + t.Here
	}
	return "`" + t.Here + "` installs it"
}

// pythonModules are tools that are installed where the project's own dependencies are.
var pythonModules = []string{"pytest", "ruff", "mypy"}

// packages are the packages that bring tools of node; each project has its own.
var packages = map[string]string{
	"eslint": "eslint", "prettier": "prettier", "tsc": "typescript", "jest": "jest", "vitest": "vitest", "mocha": "mocha",
	"biome": "@biomejs/biome",
}

// addsPackage is the command by which a project gets a tool of node, with the package manager of the check that misses
// it; "" if there is no such command.
func addsPackage(tool, command string) string {
	manager := MissingTool(command, "")
	add, known := map[string]string{
		"npm": "npm install -D ", "npx": "npm install -D ", "pnpm": "pnpm add -D ", "yarn": "yarn add -D ",
		"bun": "bun add -d ",
	}[manager]
	if pack := packages[tool]; known && pack != "" {
		return add + pack
	}
	return ""
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
	tool, _ := Unchosen(output)
	return tool != "" || missed.MatchString(output) && MissingTool("", output) != ""
}

// LackAdvice is InstallAdvice for a check that lacks a program, by its command line and output.
func LackAdvice(command, output string, at Site) string {
	if _, advice := Unchosen(output); advice != "" {
		return advice
	}
	return InstallAdvice(MissingTool(command, output), command, at)
}

const maxTool = 40 // of a name that is shown

// MissingTool is the program that did not exist, by the output of a check or else by the command line, of which it is
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
