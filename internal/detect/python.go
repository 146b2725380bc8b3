package detect

import (
	"cmp"
	"slices"
	"strings"
)

// pythonManager keeps a project's environment: what it runs is found there.
type pythonManager struct {
	program string
	lock    string
	table   string // of pyproject.toml, that shows it too
	run     string
	setup   string
}

// The first that exists is taken.
var pythonManagers = []pythonManager{
	{"uv", "uv.lock", "tool.uv", "uv run ", "uv sync --all-extras --all-groups"},
	{"poetry", "poetry.lock", "tool.poetry", "poetry run ", "poetry install --all-extras"},
	{"pdm", "pdm.lock", "tool.pdm", "pdm run ", "pdm install"},
	{"pipenv", "Pipfile", "", "pipenv run ", "pipenv install --dev"},
}

// python is what is known of a project of Python.
type python struct {
	files   topFiles
	project table // pyproject.toml
	manager pythonManager
	// environment is the virtual environment that pip installs into, or has installed into; "" none.
	environment string
	d           Result
}

// pythonProject takes tox or nox as the owner's word, then what is configured: pytest, or the tests of the standard
// library.
func pythonProject(files topFiles) Result {
	if files.first("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "tox.toml", "noxfile.py", "pytest.ini",
		"manage.py", "Pipfile") == "" &&
		files.first(requirements...) == "" {
		return Result{}
	}
	p := &python{files: files}
	p.project = files.table("pyproject.toml", &p.d)
	if p.owner() {
		return p.d
	}
	p.install()
	p.linters()
	p.tests()
	if len(p.d.Checks) == 0 {
		p.d.Setup = nil // nothing needs it
	}
	return p.d
}

// owner takes the programs that make their environments themselves. Interpreters that are not here are skipped: no
// runner has all.
func (p *python) owner() bool {
	const tox, nox = "tox --skip-missing-interpreters true", "nox --no-error-on-missing-interpreters"
	return p.d.hard(atTest, tox, cmp.Or(p.files.there("tox.ini", "tox.toml"), p.project.shows("pyproject.toml", "tool.tox"),
		p.files.says("setup.cfg", toxSection, "has a section tox:tox"))) ||
		p.d.hard(atTest, nox, p.files.there("noxfile.py"))
}

var (
	toxSection    = lazy(`(?m)^\[tox:tox\]`)
	pytestSection = lazy(`(?m)^\[tool:pytest\]`)
	mypySection   = lazy(`(?m)^\[mypy\]`)
	// asksForPytest matches a line that has pytest for a dependency: at its beginning, or as a text or a key of TOML.
	asksForPytest = lazy(`(?mi)^(?:[^#\n]*["'{])?\s*pytest\s*(?:["'\[<>=!~;,#@ ]|$)`)
)

// install finds out who keeps the environment, and how it is made.
func (p *python) install() {
	hatch := p.project.has("tool.hatch.envs")
	for _, m := range pythonManagers {
		if p.d.locked(m.setup, p.files.there(m.lock)) ||
			!hatch && p.d.installs(m.setup, p.project.shows("pyproject.toml", m.table)) {
			p.manager = m
			return
		}
	}
	if hatch {
		p.manager = pythonManager{program: "hatch", run: "hatch run "}
		return
	}
	p.pip()
}

// module is how a program of the environment is run.
func (p *python) module(name string) string {
	if p.manager.run != "" {
		return p.manager.run + name
	}
	return p.python() + " -m " + name
}

// linters are only known by their configuration.
func (p *python) linters() {
	p.d.soft(atLint, p.module("ruff check ."),
		cmp.Or(p.files.there("ruff.toml", ".ruff.toml"), p.project.shows("pyproject.toml", "tool.ruff")))
	p.d.soft(atTypes, p.module("mypy ."),
		cmp.Or(p.files.there("mypy.ini", ".mypy.ini"), p.project.shows("pyproject.toml", "tool.mypy"),
			p.files.says("setup.cfg", mypySection, "has a section mypy")))
}

func (p *python) tests() {
	dir := p.files.first("tests", "test")
	switch why := p.pytest(); {
	case why != "" && p.manager.program == "hatch":
		p.d.hard(atTest, "hatch test", why)
	case why != "":
		p.d.hard(atTest, p.module("pytest"), why)
	case p.files.has("manage.py"):
		p.d.hard(atTest, p.python()+" manage.py test", "manage.py is there, and nothing names pytest")
	default:
		p.d.hard(atTest, p.python()+" -m unittest discover -s "+dir, shows(dir, "is there, and nothing names pytest"))
	}
}

func (p *python) python() string {
	switch {
	case p.manager.run != "":
		return p.manager.run + "python"
	case p.environment != "":
		return interpreter(p.environment)
	}
	return "python3"
}

// pytest is what shows that pytest tests; "" nothing.
func (p *python) pytest() (named string) {
	for _, name := range append([]string{"pyproject.toml", "setup.cfg", "Pipfile"}, requirements...) {
		named = cmp.Or(named, p.files.says(name, asksForPytest, "names pytest"))
	}
	return cmp.Or(p.files.there("pytest.ini", ".pytest.ini", "conftest.py"),
		p.project.shows("pyproject.toml", "tool.pytest"),
		p.files.says("setup.cfg", pytestSection, "has a section tool:pytest"), named)
}

// Environments are the names under which people keep a virtual environment beside their project.
var Environments = []string{".venv", "venv"}

// EnvironmentMark is the file that shows that a directory is a virtual environment. Callers that list a directory add
// it to the names at the top. A commit has no name like that, so it cannot pass off a directory of its own as one.
func EnvironmentMark(name string) string { return name + "/pyvenv.cfg" }

// interpreter is the Python of a virtual environment.
func interpreter(environment string) string { return environment + "/bin/python" }

// extras are names of optional dependencies that are for tests.
var extras = []string{"test", "tests", "testing", "dev", "develop"}

// pip is the way of projects without a manager.
func (p *python) pip() {
	var arguments, whys []string
	for _, name := range requirements {
		if p.files.has(name) {
			arguments, whys = append(arguments, "-r "+name), append(whys, name)
		}
	}
	if p.project.has("build-system") || p.project.has("project") || p.files.has("setup.py") {
		itself := "-e ."
		for _, extra := range extras {
			if _, ok := p.project.at("project.optional-dependencies")[extra]; ok {
				itself = "-e '.[" + extra + "]'"
				break
			}
		}
		arguments, whys = append(arguments, itself), append(whys, p.files.first("pyproject.toml", "setup.py"))
	}
	for _, name := range Environments {
		if p.files.has(EnvironmentMark(name)) {
			p.environment = name // someone has installed it
			return
		}
	}
	if len(arguments) == 0 {
		return
	}
	p.environment = OwnEnvironment
	verb := " is there"
	if len(whys) > 1 {
		verb = " are there"
	}
	p.d.installs(makesEnvironment+interpreter(OwnEnvironment)+" -m pip install "+strings.Join(arguments, " "),
		strings.Join(whys, ", ")+verb)
}

// makesEnvironment makes it again: what an earlier setup has left there is not asked for. It sees what the interpreter
// has, so a pytest that is installed there counts, and installs nothing into it.
const makesEnvironment = "python3 -m venv --clear --system-site-packages " + OwnEnvironment + " && "

// Bare is the same result where nothing is installed: with checks that need no environment of ralph's, and without the
// step that makes one. The other steps are what a person may have left out.
func (d Result) Bare() Result {
	d.Setup = slices.DeleteFunc(slices.Clone(d.Setup), func(s Step) bool {
		return strings.HasPrefix(s.Command, makesEnvironment)
	})
	d.Checks = slices.Clone(d.Checks)
	for i, c := range d.Checks {
		if rest, ok := strings.CutPrefix(c.Command, interpreter(OwnEnvironment)+" "); ok {
			d.Checks[i].Command = "python3 " + rest
		}
	}
	return d
}

// SetupIndependent reports whether the checks are the same wherever they run, with a setup or without.
func (d Result) SetupIndependent() bool {
	return !slices.ContainsFunc(d.Checks, func(c Check) bool { return environmentOf(c.Command) == OwnEnvironment })
}

// environmentOf is the virtual environment whose Python a command begins with; "" none.
func environmentOf(command string) string {
	for _, name := range append([]string{OwnEnvironment}, Environments...) {
		if strings.HasPrefix(command, interpreter(name)+" ") {
			return name
		}
	}
	return ""
}
