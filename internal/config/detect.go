package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Detected is a check that the repository itself shows.
type Detected struct {
	Command  string // "make test"
	Why      string // "Makefile has a target test"
	Severity string // always Hard: what a repository calls its test decides
}

// Guardrail is the detected check as settings would name it, completed.
func (d Detected) Guardrail() Guardrail {
	g := Guardrail{Name: d.Command, Command: d.Command, Severity: d.Severity}
	g.complete()
	return g
}

// detector looks for one kind of project. It is given the names at the top of the repository; the contents only of those in
// DetectFiles.
type detector func(files map[string][]byte) []Detected

// detectors in the order their checks run. A repository may be of several kinds.
var detectors = []detector{goModule, nodePackage, cargo, python, maven, gradle}

// DetectFiles are the files at the top of a repository whose content DetectChecks reads; of all others the name is enough.
var DetectFiles = []string{"Makefile", "makefile", "GNUmakefile", "package.json", "pyproject.toml", "setup.cfg"}

// DetectChecks says how a repository is checked when no setting does (B-25). A Makefile with a target test is its owner's word on that,
// and nothing else is looked at then.
func DetectChecks(files map[string][]byte) []Detected {
	fromMake := makefile(files)
	if slices.ContainsFunc(fromMake, func(d Detected) bool { return d.Command == "make test" }) {
		return fromMake
	}
	var found []Detected
	for _, detect := range detectors {
		found = append(found, detect(files)...)
	}
	if len(found) == 0 {
		return fromMake
	}
	return found
}

func hard(command, why string) Detected { return Detected{Command: command, Why: why, Severity: Hard} }

// target matches the targets of a rule: not an assignment, not a recipe line.
var target = lazy(`(?m)^([A-Za-z0-9_./-][A-Za-z0-9_./ \t-]*?)[ \t]*::?(?:[^=:]|$)`)

// makefile knows the targets that make a check, the quickest first.
func makefile(files map[string][]byte) []Detected {
	name := present(files, "GNUmakefile", "makefile", "Makefile") // the order in which make looks
	if name == "" {
		return nil
	}
	targets := map[string]bool{}
	for _, match := range target.FindAllSubmatch(files[name], -1) {
		for _, t := range strings.Fields(string(match[1])) {
			targets[t] = true
		}
	}
	var found []Detected
	for _, t := range []string{"lint", "check", "test"} {
		if targets[t] {
			found = append(found, hard("make "+t, fmt.Sprintf("%s has a target %s", name, t)))
		}
	}
	return found
}

func goModule(files map[string][]byte) []Detected {
	if present(files, "go.mod") == "" {
		return nil
	}
	why := "go.mod is there"
	return []Detected{hard("go build ./...", why), hard("go vet ./...", why), hard("go test ./...", why)}
}

// lockFiles tell which program installs a node package; without one it is npm.
var lockFiles = []struct{ file, program string }{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"package-lock.json", "npm"}}

func nodePackage(files map[string][]byte) []Detected {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if present(files, "package.json") == "" || json.Unmarshal(files["package.json"], &manifest) != nil {
		return nil
	}
	program := "npm"
	for _, lock := range lockFiles {
		if present(files, lock.file) != "" {
			program = lock.program
			break
		}
	}
	var found []Detected
	for _, script := range []string{"lint", "build", "test"} {
		body, ok := manifest.Scripts[script]
		if !ok || strings.Contains(body, "no test specified") { // what npm init writes
			continue
		}
		found = append(found, hard(program+" run "+script, "package.json has a script "+script))
	}
	return found
}

func cargo(files map[string][]byte) []Detected {
	if present(files, "Cargo.toml") == "" {
		return nil
	}
	return []Detected{hard("cargo build", "Cargo.toml is there"), hard("cargo test", "Cargo.toml is there")}
}

func python(files map[string][]byte) []Detected {
	if present(files, "tox.ini") != "" {
		return []Detected{hard("tox", "tox.ini is there")}
	}
	if present(files, "pytest.ini") != "" {
		return []Detected{hard("python3 -m pytest", "pytest.ini is there")}
	}
	for _, name := range []string{"pyproject.toml", "setup.cfg"} {
		if bytes.Contains(files[name], []byte("pytest")) {
			return []Detected{hard("python3 -m pytest", name+" names pytest")}
		}
	}
	return nil
}

func maven(files map[string][]byte) []Detected {
	if present(files, "pom.xml") == "" {
		return nil
	}
	if present(files, "mvnw") != "" {
		return []Detected{hard("./mvnw -B verify", "pom.xml and mvnw are there")}
	}
	return []Detected{hard("mvn -B verify", "pom.xml is there")}
}

func gradle(files map[string][]byte) []Detected {
	name := present(files, "build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
	if name == "" {
		return nil
	}
	if present(files, "gradlew") != "" {
		return []Detected{hard("./gradlew check", name+" and gradlew are there")}
	}
	return []Detected{hard("gradle check", name+" is there")}
}

// present is the first of the names that is there.
func present(files map[string][]byte, names ...string) string {
	for _, name := range names {
		if _, ok := files[name]; ok {
			return name
		}
	}
	return ""
}
