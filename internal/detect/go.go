package detect

import (
	"strings"

	"golang.org/x/mod/modfile"
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
	file, err := modfile.ParseWork("go.work", work, nil)
	if err != nil || len(file.Use) > maxModules {
		return ""
	}
	var patterns []string
	for _, use := range file.Use {
		pattern := modulePattern(use.Path)
		if pattern == "" {
			return ""
		}
		patterns = append(patterns, pattern)
	}
	return strings.Join(patterns, " ")
}

// modulePattern is "./api/..." for "./api"; "" for a directory that no command line should hold.
func modulePattern(dir string) string {
	if dir == "." || dir == "./" {
		return "./..."
	}
	dir = strings.TrimSuffix(strings.TrimPrefix(dir, "./"), "/")
	if !safeName(dir) {
		return ""
	}
	return "./" + dir + "/..."
}
