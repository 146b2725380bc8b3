package detect

import (
	"slices"
	"strings"
)

// OwnEnvironment is the virtual environment that a detected setup makes: at the top, kept out of commits as ralph's own
// files are, and of a name that nobody else gives one. What people have made themselves is never cleared.
const OwnEnvironment = ".venv-ralph"

// Environments are the names under which people keep a virtual environment beside their project.
var Environments = []string{".venv", "venv"}

// EnvironmentMark is the file that shows that a directory is a virtual environment. Whoever looks at a directory names
// it beside the names at the top. A commit has no name like that, so it cannot pass off a directory of its own as one.
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
			p.environment = name // somebody has installed it
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

// makesEnvironment makes it anew: what an earlier setup has left there is not asked for. It sees what the interpreter
// has, so a pytest that is installed there counts, and installs nothing into it.
const makesEnvironment = "python3 -m venv --clear --system-site-packages " + OwnEnvironment + " && "

// bare gives the checks the form that they have where no setup runs.
func (p *python) bare() {
	for i, d := range p.d.Checks {
		if rest, ok := strings.CutPrefix(d.Command, interpreter(OwnEnvironment)+" "); ok {
			p.d.Checks[i].bare = "python3 " + rest
		}
	}
}

// Bare is the same result where nothing is installed: with checks that need no environment of ralph's, and without the
// step that makes one. The other steps are what a person may have left out.
func (d Result) Bare() Result {
	d.Setup = slices.DeleteFunc(slices.Clone(d.Setup), func(s Step) bool {
		return strings.HasPrefix(s.Command, makesEnvironment)
	})
	d.Checks = slices.Clone(d.Checks)
	for i, c := range d.Checks {
		if c.bare != "" {
			d.Checks[i].Command = c.bare
		}
	}
	return d
}

// SetupIndependent reports whether the checks are the same wherever they run, with a setup or without.
func (d Result) SetupIndependent() bool {
	return !slices.ContainsFunc(d.Checks, func(c Check) bool { return c.bare != "" })
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
