package detect

import (
	"bytes"
	"strings"
)

// goProject is one module, or with a go.work several.
func goProject(files topFiles) (d Result) {
	packages, why := "", ""
	if files.has("go.work") {
		packages, why = workspacePackages(files["go.work"]), "go.work names the modules"
		if packages == "" {
			d.note("go.work uses no directory whose name is plain: nothing is taken from it")
		}
	}
	if packages == "" {
		if !files.has("go.mod") {
			return d
		}
		packages, why = "./...", "go.mod is there"
	}
	d.soft(atLint, "golangci-lint run "+packages,
		files.there(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"))
	d.hard(atTypes, "go build "+packages, why)
	d.hard(atTypes, "go vet "+packages, why)
	d.hard(atTest, "go test "+packages, why)
	return d
}

const maxModules = 50

// workspacePackages are the patterns for all packages of all modules that a go.work uses: "./... ./api/..."; "" when
// one of them has a name that no command line should hold. Outside of a module "./..." means nothing, so each is named.
func workspacePackages(work []byte) string {
	var patterns []string
	block := false
	for line := range bytes.Lines(work) {
		text, _, _ := strings.Cut(string(line), "//")
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			continue
		case block && words[0] == ")":
			block = false
			continue
		case block:
		case words[0] == "use" && len(words) == 2 && words[1] == "(":
			block = true
			continue
		case words[0] == "use" && len(words) == 2:
			words = words[1:]
		default:
			continue
		}
		pattern := modulePattern(words[0])
		if len(words) != 1 || pattern == "" || len(patterns) == maxModules {
			return ""
		}
		patterns = append(patterns, pattern)
	}
	return strings.Join(patterns, " ")
}

// modulePattern is "./api/..." for "./api"; "" for a directory that no command line should hold.
func modulePattern(dir string) string {
	dir = strings.Trim(dir, "\"`")
	if dir == "." || dir == "./" {
		return "./..."
	}
	dir = strings.TrimSuffix(strings.TrimPrefix(dir, "./"), "/")
	if !safeName(dir) {
		return ""
	}
	return "./" + dir + "/..."
}
