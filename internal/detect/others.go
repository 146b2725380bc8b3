package detect

import (
	"encoding/json"
	"strings"
)

// plainProject is a kind of which names tell everything: a row a kind.
type plainProject struct {
	files  []string // one of them is there
	beside string   // and this one; "": nothing more is asked
	checks []plainCheck
	setup  string
}

type plainCheck struct {
	at      stage
	command string
}

// plainKinds, in the order in which their checks run.
var plainKinds = []plainProject{
	{files: []string{"Package.swift"}, checks: []plainCheck{{atBuild, "swift build"}}},
	{files: []string{"Package.swift"}, beside: "Tests", checks: []plainCheck{{atTest, "swift test"}}},
	{files: []string{"build.sbt"}, checks: []plainCheck{{atTest, "sbt -batch test"}}},
	{files: []string{"stack.yaml"}, checks: []plainCheck{{atTest, "stack test"}}},
	{files: []string{"cabal.project"}, checks: []plainCheck{{atTest, "cabal test all"}}, setup: "cabal update"},
	{files: []string{"build.zig"}, checks: []plainCheck{{atTest, "zig build test"}}},
	{files: []string{"MODULE.bazel", "WORKSPACE.bazel"}, checks: []plainCheck{{atTest, "bazel test //..."}}},
	{files: []string{"project.clj"}, checks: []plainCheck{{atTest, "lein test"}}},
	{files: []string{"rebar.config"}, checks: []plainCheck{{atTest, "rebar3 eunit"}}},
	{files: []string{"gleam.toml"}, checks: []plainCheck{{atTest, "gleam test"}}},
	{files: []string{".busted"}, checks: []plainCheck{{atTest, "busted"}}},
}

func plainProjects(files topFiles) (d Result) {
	for _, p := range plainKinds {
		name := files.first(p.files...)
		if name == "" || p.beside != "" && !files.has(p.beside) {
			continue
		}
		why := name + " is there"
		if p.beside != "" {
			why = name + " and " + p.beside + " are there"
		}
		for _, c := range p.checks {
			d.hard(c.at, c.command, why)
		}
		if p.setup != "" {
			d.installs(p.setup, why)
		}
	}
	return d
}

// perlProject takes the tests in t, beside what says that it is a distribution. A part in C is built before them.
func perlProject(files topFiles) (d Result) {
	name := files.first("Makefile.PL", "Build.PL", "dist.ini", "cpanfile")
	if name == "" || !files.has("t") {
		return d
	}
	if files.has("cpanfile") {
		d.installs("cpanm --notest --installdeps .", "cpanfile is there")
	}
	why, options := name+" and t are there", "-l"
	if xs := files.ending(".xs"); len(xs) > 0 && files.has("Makefile.PL") {
		d.hard(atBuild, "perl Makefile.PL && make", xs[0]+" is there")
		options = "-b"
	}
	d.hard(atTest, "prove "+options+" -r t", why)
	return d
}

func elixirProject(files topFiles) (d Result) {
	if !files.has("mix.exs") {
		return d
	}
	if files.has("mix.lock") {
		d.locked("mix local.hex --force --if-missing && mix deps.get", "mix.lock is there")
	}
	if files.has(".formatter.exs") {
		d.soft(atFormat, "mix format --check-formatted", ".formatter.exs is there")
	}
	if files.has(".credo.exs") {
		d.soft(atLint, "mix credo", ".credo.exs is there")
	}
	d.hard(atTest, "mix test", "mix.exs is there")
	return d
}

var flutterPackage = lazy(`(?m)^(flutter:|  flutter:\s*$|\s+sdk:\s*flutter\s*$)`)

// dartProject is a package of Dart, or of Flutter.
func dartProject(files topFiles) (d Result) {
	if !files.has("pubspec.yaml") {
		return d
	}
	program, why := "dart", "pubspec.yaml is there"
	if files.says("pubspec.yaml", flutterPackage) {
		program, why = "flutter", "pubspec.yaml names flutter"
	}
	if files.has("pubspec.lock") {
		d.locked(program+" pub get", "pubspec.lock is there")
	} else {
		d.installs(program+" pub get", why)
	}
	if files.has("analysis_options.yaml") {
		d.soft(atTypes, program+" analyze", "analysis_options.yaml is there")
	}
	if files.has("test") {
		d.hard(atTest, program+" test", why+", and test is there")
	}
	return d
}

// preCommit looks at what people's commits are examined by.
func preCommit(files topFiles) (d Result) {
	const name = ".pre-commit-config.yaml"
	if files.has(name) {
		d.soft(atLint, "pre-commit run --all-files", name+" is there")
	}
	return d
}

// dotnetProject builds and tests the one solution, or else the one project, at the top. dotnet finds a single one
// itself; of several, nothing says which is meant.
func dotnetProject(files topFiles) (d Result) {
	solutions, projects := files.ending(".sln", ".slnx"), files.ending(".csproj", ".fsproj", ".vbproj")
	chosen := solutions
	if len(chosen) == 0 {
		chosen = projects
	}
	switch {
	case len(chosen) == 0:
		return d
	case len(chosen) > 1:
		d.note("several solutions or projects of .NET are at the top, and nothing says which is meant")
		return d
	case !safeName(chosen[0]):
		d.note("the solution or project of .NET at the top has a name that is not plain: it is not used")
		return d
	}
	name := ""
	if len(solutions)+len(projects) > 1 {
		name = " " + chosen[0]
	}
	why := chosen[0] + " is there"
	d.hard(atBuild, strings.TrimSpace("dotnet build"+name), why)
	d.hard(atTest, strings.TrimSpace("dotnet test"+name), why)
	return d
}

// mavenProject runs everything up to verify. The wrapper is run by sh: not every repository has kept its mode.
func mavenProject(files topFiles) (d Result) {
	switch {
	case !files.has("pom.xml"):
	case files.has("mvnw"):
		d.hard(atTest, "sh ./mvnw -B verify", "pom.xml and mvnw are there")
	default:
		d.hard(atTest, "mvn -B verify", "pom.xml is there")
	}
	return d
}

func gradleProject(files topFiles) (d Result) {
	name := files.first("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
	switch {
	case name == "":
	case files.has("gradlew"):
		d.hard(atTest, "sh ./gradlew check", name+" and gradlew are there")
	default:
		d.hard(atTest, "gradle check", name+" is there")
	}
	return d
}

var (
	rakeSpec = lazy(`(?m)^\s*(task\s*\(?\s*(:spec\b|["']spec["']|spec:)|RSpec::Core::RakeTask\.new)`)
	rakeTest = lazy(
		`(?m)^\s*(task\s*\(?\s*(:test\b|["']test["']|test:)|(Rake::TestTask|Minitest::TestTask)\.(new|create)\b)`)
	gemRails   = lazy(`(?m)^\s*gem\s*\(?\s*["']rails["']`)
	gemRSpec   = lazy(`(?m)^\s*gem\s*\(?\s*["']rspec(-rails)?["']`)
	gemRubocop = lazy(`(?m)^\s*gem\s*\(?\s*["']rubocop["']`)
)

// rubyProject takes a task of rake that tests; else RSpec, or the tests of Rails.
func rubyProject(files topFiles) (d Result) {
	rake, spec := files.first("Rakefile", "rakefile", "Rakefile.rb"), files.first(".rspec", "spec")
	if !files.has("Gemfile") && rake == "" && !files.has(".rspec") {
		return d
	}
	exec := ""
	if files.has("Gemfile") {
		exec = "bundle exec "
		if files.has("Gemfile.lock") {
			d.locked("bundle install", "Gemfile.lock is there")
		} else {
			d.installs("bundle install", "Gemfile is there")
		}
	}
	switch {
	case files.has(".rubocop.yml"):
		d.soft(atLint, exec+"rubocop", ".rubocop.yml is there")
	case files.says("Gemfile", gemRubocop):
		d.soft(atLint, exec+"rubocop", "Gemfile names rubocop")
	}
	switch {
	case rake != "" && files.says(rake, rakeTest):
		d.hard(atTest, exec+"rake test", rake+" has a task test")
	case rake != "" && files.says(rake, rakeSpec):
		d.hard(atTest, exec+"rake spec", rake+" has a task spec")
	case spec == ".rspec":
		d.hard(atTest, exec+"rspec", ".rspec is there")
	case files.says("Gemfile", gemRSpec):
		d.hard(atTest, exec+"rspec", "Gemfile names rspec")
	case files.says("Gemfile", gemRails) && files.has("test"):
		d.hard(atTest, exec+"rails test", "Gemfile names rails, and test is there")
	}
	return d
}

// rustProject is a package or a workspace of cargo.
func rustProject(files topFiles) (d Result) {
	if !files.has("Cargo.toml") {
		return d
	}
	manifest := files.table("Cargo.toml", &d)
	all, why := "", "Cargo.toml is there"
	if manifest.has("workspace") {
		all, why = " --workspace", "Cargo.toml has a table workspace"
	}
	if name := files.first("rustfmt.toml", ".rustfmt.toml"); name != "" {
		d.soft(atFormat, "cargo fmt --all --check", name+" is there")
	}
	clippy := "cargo clippy" + all + " --all-targets"
	if name := files.first("clippy.toml", ".clippy.toml"); name != "" {
		d.soft(atLint, clippy, name+" is there")
	} else {
		for _, lints := range []string{"lints.clippy", "workspace.lints.clippy"} {
			if manifest.has(lints) {
				d.soft(atLint, clippy, "Cargo.toml has a table "+lints)
				break
			}
		}
	}
	d.hard(atBuild, "cargo build"+all, why)
	d.hard(atTest, "cargo test"+all, why)
	return d
}

// phpScripts are the scripts of composer that make a check; of each list, the first that exists.
var phpScripts = []struct {
	at    stage
	names []string
}{
	{atLint, []string{"lint", "cs", "check-style"}},
	{atTypes, []string{"analyse", "analyze", "phpstan", "stan", "psalm"}},
	{atTest, []string{"test", "tests"}},
}

// phpProject takes the scripts of composer.json, and where none tests, Pest or PHPUnit by what shows them.
func phpProject(files topFiles) (d Result) {
	unit := files.first("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
	if !files.has("composer.json") {
		return d
	}
	manifest := files.object("composer.json", &d)
	if manifest == nil {
		return d
	}
	if files.has("composer.lock") {
		d.locked("composer install --no-interaction", "composer.lock is there")
	} else {
		d.installs("composer install --no-interaction", "composer.json is there")
	}
	taken := map[stage]bool{}
	for _, s := range phpScripts {
		for _, name := range s.names {
			if _, there := phpScript(manifest["scripts"])[name]; there {
				d.hard(s.at, "composer run-script --timeout=0 "+name, "composer.json has a script "+name)
				taken[s.at] = true
				break
			}
		}
	}
	if config := files.first("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"); config != "" && !taken[atTypes] {
		d.soft(atTypes, "php vendor/bin/phpstan analyse --no-progress", config+" is there")
	}
	dev := texts(manifest["require-dev"])
	switch {
	case taken[atTest]:
	case dev["pestphp/pest"] != "":
		d.hard(atTest, "php vendor/bin/pest", "composer.json names pestphp/pest")
	case unit != "":
		d.hard(atTest, "php vendor/bin/phpunit", unit+" is there")
	case dev["phpunit/phpunit"] != "" && files.has("tests"):
		d.hard(atTest, "php vendor/bin/phpunit tests", "composer.json names phpunit/phpunit, and tests is there")
	}
	return d
}

// phpScript are the scripts by name: each is a text or a list of texts, which does not matter here.
func phpScript(object json.RawMessage) map[string]json.RawMessage {
	var scripts map[string]json.RawMessage
	_ = json.Unmarshal(object, &scripts)
	return scripts
}
