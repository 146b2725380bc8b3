package detect

import (
	"cmp"
	"encoding/json"
	"strings"
)

// plainProjects are of the kinds of which names tell everything.
func plainProjects(files topFiles) (d Result) {
	d.hard(atBuild, "swift build", files.there("Package.swift"))
	d.hard(atTest, "swift test", files.both("Tests", "Package.swift"))
	d.hard(atTest, "sbt -batch test", files.there("build.sbt"))
	d.hard(atTest, "stack test", files.there("stack.yaml"))
	d.hard(atTest, "cabal test all", files.there("cabal.project"))
	d.installs("cabal update", files.there("cabal.project"))
	d.hard(atTest, "zig build test", files.there("build.zig"))
	d.hard(atTest, "bazel test //...", files.there("MODULE.bazel", "WORKSPACE.bazel"))
	d.hard(atTest, "lein test", files.there("project.clj"))
	d.hard(atTest, "rebar3 eunit", files.there("rebar.config"))
	d.hard(atTest, "gleam test", files.there("gleam.toml"))
	d.hard(atTest, "busted", files.there(".busted"))
	d.soft(atLint, "pre-commit run --all-files", files.there(".pre-commit-config.yaml"))
	return d
}

// perlProject takes the tests in t, beside what says that it is a distribution. A part in C is built before them.
func perlProject(files topFiles) (d Result) {
	name := files.first("Makefile.PL", "Build.PL", "dist.ini", "cpanfile")
	if name == "" || !files.has("t") {
		return d
	}
	d.installs("cpanm --notest --installdeps .", files.there("cpanfile"))
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
	d.locked("mix local.hex --force --if-missing && mix deps.get", files.there("mix.lock"))
	d.soft(atFormat, "mix format --check-formatted", files.there(".formatter.exs"))
	d.soft(atLint, "mix credo", files.there(".credo.exs"))
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
	if flutter := files.says("pubspec.yaml", flutterPackage, "names flutter"); flutter != "" {
		program, why = "flutter", flutter
	}
	if !d.locked(program+" pub get", files.there("pubspec.lock")) {
		d.installs(program+" pub get", why)
	}
	d.soft(atTypes, program+" analyze", files.there("analysis_options.yaml"))
	if files.has("test") {
		d.hard(atTest, program+" test", why+", and test is there")
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

// javaProject runs everything up to verify or check. A wrapper is run by sh: not every repository has kept its mode.
func javaProject(files topFiles) (d Result) {
	if !d.hard(atTest, "sh ./mvnw -B verify", files.both("mvnw", "pom.xml")) {
		d.hard(atTest, "mvn -B verify", files.there("pom.xml"))
	}
	gradle := []string{"build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"}
	if !d.hard(atTest, "sh ./gradlew check", files.both("gradlew", gradle...)) {
		d.hard(atTest, "gradle check", files.there(gradle...))
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
	rake := files.first("Rakefile", "rakefile", "Rakefile.rb")
	if rake == "" && files.first("Gemfile", ".rspec") == "" {
		return d
	}
	exec := ""
	if files.has("Gemfile") {
		exec = "bundle exec "
		if !d.locked("bundle install", files.there("Gemfile.lock")) {
			d.installs("bundle install", "Gemfile is there")
		}
	}
	if !d.soft(atLint, exec+"rubocop", files.there(".rubocop.yml")) {
		d.soft(atLint, exec+"rubocop", files.says("Gemfile", gemRubocop, "names rubocop"))
	}
	switch {
	case d.hard(atTest, exec+"rake test", files.says(rake, rakeTest, "has a task test")):
	case d.hard(atTest, exec+"rake spec", files.says(rake, rakeSpec, "has a task spec")):
	case d.hard(atTest, exec+"rspec", files.there(".rspec")):
	case d.hard(atTest, exec+"rspec", files.says("Gemfile", gemRSpec, "names rspec")):
	case files.has("test"):
		d.hard(atTest, exec+"rails test", files.says("Gemfile", gemRails, "names rails, and test is there"))
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
	d.soft(atFormat, "cargo fmt --all --check", files.there("rustfmt.toml", ".rustfmt.toml"))
	clippy := "cargo clippy" + all + " --all-targets"
	if !d.soft(atLint, clippy, files.there("clippy.toml", ".clippy.toml")) {
		d.soft(atLint, clippy, cmp.Or(manifest.shows("Cargo.toml", "lints.clippy"),
			manifest.shows("Cargo.toml", "workspace.lints.clippy")))
	}
	d.hard(atBuild, "cargo build"+all, why)
	d.hard(atTest, "cargo test"+all, why)
	return d
}

// phpProject takes the scripts of composer.json, and where none tests, Pest or PHPUnit by what shows them.
func phpProject(files topFiles) (d Result) {
	if !files.has("composer.json") {
		return d
	}
	manifest := files.object("composer.json", &d)
	if manifest == nil {
		return d
	}
	if !d.locked("composer install --no-interaction", files.there("composer.lock")) {
		d.installs("composer install --no-interaction", "composer.json is there")
	}
	var scripts map[string]json.RawMessage // each is a text or a list of texts
	_ = json.Unmarshal(manifest["scripts"], &scripts)
	take := func(at stage, names ...string) bool {
		return d.named(at, "composer run-script --timeout=0 ", "composer.json has a script ", names, func(name string) bool {
			return scripts[name] != nil
		})
	}
	take(atLint, "lint", "cs", "check-style")
	if !take(atTypes, "analyse", "analyze", "phpstan", "stan", "psalm") {
		d.soft(atTypes, "php vendor/bin/phpstan analyse --no-progress",
			files.there("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"))
	}
	dev := texts(manifest["require-dev"])
	switch {
	case take(atTest, "test", "tests"):
	case dev["pestphp/pest"] != "":
		d.hard(atTest, "php vendor/bin/pest", "composer.json names pestphp/pest")
	case d.hard(atTest, "php vendor/bin/phpunit", files.there("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")):
	case dev["phpunit/phpunit"] != "" && files.has("tests"):
		d.hard(atTest, "php vendor/bin/phpunit tests", "composer.json names phpunit/phpunit, and tests is there")
	}
	return d
}
