package detect

import (
	"encoding/json"
	"strings"
)

// packager is a program that installs a node package and runs its scripts.
type packager struct {
	program string
	locks   []string // its lock files
	setup   string   // installs what the lock file says
	fresh   string   // installs where there is no lock file
	dashes  bool     // arguments of a script follow "--"
}

// packagers in the order in which their lock files are searched for: a project with two of them came from npm.
var packagers = []packager{
	{"pnpm", []string{"pnpm-lock.yaml"}, "pnpm install --frozen-lockfile", "pnpm install --no-lockfile", false},
	{"yarn", []string{"yarn.lock"}, "yarn install --frozen-lockfile", "yarn install", false},
	{"bun", []string{"bun.lock", "bun.lockb"}, "bun install --frozen-lockfile", "bun install --no-save", false},
	{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}, "npm ci", "npm install --no-package-lock", true},
}

// nodeProject takes scripts by their names. The field packageManager says which program runs them, then the lock file;
// the default is npm.
func nodeProject(files topFiles) (d Result) {
	if !files.has("package.json") {
		return d
	}
	manifest := files.object("package.json", &d)
	if manifest == nil {
		return d
	}
	p, lock, why := packagerOf(files, manifest)
	p.install(files, manifest, lock, why, &d)
	bodies := texts(manifest["scripts"])
	take := func(at stage, names ...string) {
		d.named(at, p.program+" run ", "package.json has a script ", names, func(name string) bool { return usable(bodies[name]) })
	}
	take(atFormat, "format:check", "check:format", "fmt:check", "format-check")
	take(atLint, "lint")
	take(atTypes, "typecheck", "type-check", "check-types", "check:types", "types:check")
	take(atBuild, "build")
	p.test(bodies, &d)
	if name := workspaces(files, manifest); len(d.Checks) == 0 && name != "" {
		d.note(name + ", but package.json has no script lint, typecheck, build or test: those of the packages are not " +
			"guessed")
	}
	return d
}

// workspaces is what shows that packages lie below; "" nothing.
func workspaces(files topFiles, manifest map[string]json.RawMessage) string {
	switch {
	case files.has("pnpm-workspace.yaml"):
		return "pnpm-workspace.yaml is there"
	case len(manifest["workspaces"]) > 0:
		return "package.json has workspaces"
	}
	return ""
}

// usable reports whether a script does something: npm init writes one that does not.
func usable(body string) bool { return body != "" && !strings.Contains(body, "no test specified") }

// packagerOf is the program, its lock file if that exists, and what shows it.
func packagerOf(files topFiles, manifest map[string]json.RawMessage) (p packager, lock, why string) {
	var field string
	_ = json.Unmarshal(manifest["packageManager"], &field)
	named, version, _ := strings.Cut(field, "@")
	for _, p := range packagers {
		if p.program == named {
			return p.release(files, version), files.first(p.locks...), "package.json names " + named + " as packageManager"
		}
	}
	for _, p := range packagers {
		if lock := files.first(p.locks...); lock != "" {
			return p.release(files, ""), lock, lock + " is there"
		}
	}
	return packagers[len(packagers)-1], "", "package.json names dependencies"
}

var (
	berryLock = lazy(`(?m)^__metadata:`)
	classic   = lazy(`^[01]\.`)
)

// release tells the two yarns apart: since the second, called berry, its option has another name.
func (p packager) release(files topFiles, version string) packager {
	berry := version != "" && !classic.MatchString(version) ||
		version == "" && (files.has(".yarnrc.yml") || berryLock.MatchString(string(files["yarn.lock"])))
	if p.program == "yarn" && berry {
		p.setup = "yarn install --immutable"
	}
	return p
}

func (p packager) install(files topFiles, manifest map[string]json.RawMessage, lock, why string, d *Result) {
	if lock != "" {
		if !strings.HasPrefix(why, lock) {
			why += ", " + lock + " is there"
		}
		d.locked(p.setup, why)
		return
	}
	var needs int
	for _, kind := range []string{"dependencies", "devDependencies"} {
		needs += len(texts(manifest[kind]))
	}
	if needs > 0 || workspaces(files, manifest) != "" {
		d.installs(p.fresh, why)
	}
}

// testScripts are where a script that runs the tests once is searched for when "test" waits for changes.
var testScripts = []string{"test:ci", "test:run", "test:once", "ci:test"}

// test adds the script test in a form that ends.
func (p packager) test(bodies map[string]string, d *Result) {
	body := bodies["test"]
	if !usable(body) {
		return
	}
	const why = "package.json has a script test"
	once := onceOf(body)
	if once == nil {
		d.hard(atTest, p.program+" run test", why)
		return
	}
	for _, name := range testScripts {
		if usable(bodies[name]) && onceOf(bodies[name]) == nil {
			d.hard(atTest, p.program+" run "+name, "package.json has a script "+name+", and its script test waits for changes")
			return
		}
	}
	switch {
	case once.ci:
		d.hard(atTest, "CI=true "+p.program+" run test", why+", which waits for changes unless CI is set")
	case once.arguments != "" && single(body):
		if p.dashes {
			once.arguments = "-- " + once.arguments
		}
		d.hard(atTest, p.program+" run test "+once.arguments, why+", which waits for changes unless told not to")
	default:
		d.note("the script test of package.json waits for changes and never ends: give it a sibling test:ci that runs once")
	}
}

// once is how a test runner that waits for changes is made to run once.
type once struct {
	ci        bool
	arguments string
}

var watchFlag = lazy(`(^|\s)(--watch(All|-all)?|-w)(=true)?(\s|$)`)

// watchers are the words of a script by which a runner that may wait for changes is known.
var watchers = []struct {
	word      *pattern
	always    bool // it waits even if no flag says so
	arguments string
}{
	{lazy(`(^|[\s/])vitest\s+(watch|dev)(\s|$)`), true, "--run"},
	{lazy(`(^|[\s/])vitest(\s|$)`), false, "--run"},
	{lazy(`(^|[\s/])jest(\s|$)`), false, "--watch=false --watchAll=false"},
	{lazy(`(^|[\s/])ng\s+test(\s|$)`), true, "--watch=false"},
	{lazy(`(^|[\s/])karma\s+start(\s|$)`), true, "--single-run"},
	{lazy(`(^|[\s/])mocha(\s|$)`), false, "--no-watch"},
}

var (
	waitsUnlessCI = lazy(`(^|[\s/])(react-scripts|craco|tsdx|react-app-rewired)\s+test(\s|$)`)
	plainVitest   = lazy(`(^|[\s/])vitest(\s|$)`)
	endsAnyway    = lazy(
		`(^|\s)(run|bench|list|related|--run|--no-watch|--watch(All)?=false|--single-run|CI=true|CI=1)(\s|$)`)
	otherWatcher = lazy(`(^|[\s/])(nodemon|watchexec|chokidar|cypress\s+open)(\s|$)`)
)

// watchedTool is a line that starts another tool with --watch.
var watchedTool = lazy(`(^|[\s/])(node|deno|bun|ava|tap|tsc|playwright|wtr|rspec)\s(.*\s)?--watch(\s|$)`)

// watching are words of tools that wait for changes of files, and what runs them once.
var watching = []struct {
	words *pattern
	once  string
}{
	{lazy(`(?m)^\s*DEV\s+v\d|press h to show help, press q`), "run vitest as vitest run"},
	{lazy(`Watch Usage`), "run jest with --watch=false --watchAll=false"},
	{lazy(`(?m)^Watcher \w+ (started|finished)`), "run deno without --watch"},
	{lazy(`(?m)^([>$+] )?[\w./ -]*\bcypress\s+open\b`), "run cypress as cypress run"},
	{lazy(`(?i)(watching|waiting) for (a |any )?(file )?changes?|waiting for a file to change|restart\w* on (file )?change|` +
		`watching (the files|path|extensions)|is now watching|finished running\. exit status`), "run it without its watch mode"},
}

// Watches returns what runs a command once that waits for changes of files; "" if it is not known to wait. Its output
// says that it waits or, if that ends with the summary of tests, has the line of a command that does.
func Watches(command, output string, summed bool) string {
	text := command + "\n" + output
	for _, w := range watching {
		if w.words.MatchString(text) {
			return w.once
		}
	}
	for line := range strings.Lines(text) {
		once := onceOf(strings.TrimLeft(strings.TrimSpace(line), ">$+ "))
		switch {
		case !summed || once == nil || once.ci:
		case once.arguments != "":
			return "run it with " + once.arguments
		case watchedTool.MatchString(line):
			return "run it without --watch"
		}
	}
	return ""
}

// onceOf is nil for a script that ends by itself.
func onceOf(body string) *once {
	if endsAnyway.MatchString(body) {
		return nil
	}
	waits := watchFlag.MatchString(body)
	for _, w := range watchers {
		if w.word.MatchString(body) && (waits || w.always) {
			return &once{arguments: w.arguments}
		}
	}
	switch {
	case plainVitest.MatchString(body), waitsUnlessCI.MatchString(body):
		return &once{ci: true}
	case waits, otherWatcher.MatchString(body):
		return &once{}
	}
	return nil
}

// single reports whether a script is one command, so that arguments behind it are that command's.
func single(body string) bool { return !strings.ContainsAny(body, "&|;<>()`$\n") }

// denoProject takes the tasks of a deno.json, and the tests that deno finds itself where none tests.
func denoProject(files topFiles) (d Result) {
	name := files.first("deno.json", "deno.jsonc")
	if name == "" {
		return d
	}
	manifest := files.object(name, &d)
	if manifest == nil {
		return d
	}
	var tasks map[string]json.RawMessage
	_ = json.Unmarshal(manifest["tasks"], &tasks)
	take := func(at stage, names ...string) bool {
		return d.named(at, "deno task ", name+" has a task ", names, func(n string) bool {
			return len(tasks[n]) > 0 && onceOf(strings.Trim(string(tasks[n]), `"`)) == nil
		})
	}
	take(atLint, "lint")
	take(atTypes, "check", "typecheck")
	take(atBuild, "build")
	if !take(atTest, "test") {
		d.hard(atTest, "deno test --allow-all", name+" is there, and has no task test")
	}
	return d
}
