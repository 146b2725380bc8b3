package detect

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

// preCommit looks at what people's commits are looked at by.
func preCommit(files topFiles) (d Result) {
	const name = ".pre-commit-config.yaml"
	if files.has(name) {
		d.soft(atLint, "pre-commit run --all-files", name+" is there")
	}
	return d
}
