package detect

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// MaxBytes is how much of a file's beginning is examined.
const MaxBytes = 128 << 10

// Files are the files at the top of a repository whose content Repository reads; of all others the name is enough.
var Files = slices.Concat(
	makefiles, justfiles, taskfiles, []string{
		"go.work", "package.json", "yarn.lock", "deno.json", "deno.jsonc", "pyproject.toml", "setup.cfg", "Cargo.toml",
		"Gemfile", "Rakefile", "rakefile", "Rakefile.rb",
		"Pipfile", "composer.json", "CMakeLists.txt", "pubspec.yaml",
	}, requirements)

// Read puts together what Repository looks at: the names, and the contents of Files among them. read returns at most so
// many bytes of a file's beginning, and nothing for what is not a regular file: a link is never followed.
func Read(names []string, read func(name string, most int) ([]byte, error)) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = nil
	}
	for _, name := range Files {
		if _, there := files[name]; !there {
			continue
		}
		content, err := read(name, MaxBytes)
		if err != nil {
			return nil, err
		}
		files[name] = content[:min(len(content), MaxBytes)]
	}
	return files, nil
}

// manifests are the files that say that a directory is a project.
var manifests = []string{
	"go.mod", "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts",
	"Gemfile", "composer.json",
	"CMakeLists.txt", "meson.build", "mix.exs", "pubspec.yaml", "Package.swift", "deno.json", "Makefile", "justfile",
	"Taskfile.yml",
}

// Below names the projects that lie below the top of a repository, at most five of them, by their manifests:
// "api/go.mod". How they are checked is not guessed: which of them a change concerns, and in which order they depend on
// each other, no file says.
func Below(paths []string) []string {
	var found []string
	for _, p := range paths {
		dir := path.Dir(p)
		if len(found) < 5 && dir != "." && strings.Count(dir, "/") < 2 && safeName(p) &&
			slices.Contains(manifests, path.Base(p)) && !brought(dir) {
			found = append(found, p)
		}
	}
	return found
}

// brought reports whether a directory holds what others wrote, or what is there to be examined.
func brought(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return slices.Contains([]string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "examples"}, part)
	})
}

// object reads a file as a JSON object, in which comments are allowed; what may not be one is noted.
func (s topFiles) object(name string, to *Result) (object map[string]json.RawMessage) {
	text, err := hujson.Standardize(bytes.TrimPrefix(bytes.Clone(s[name]), []byte("\xef\xbb\xbf")))
	if err != nil || json.Unmarshal(text, &object) != nil || object == nil {
		to.note(name + " is no JSON object, a link, or larger than 128 KiB: nothing is taken from it")
		return nil
	}
	return object
}

// texts are the values of an object that are texts; others are left out.
func texts(object json.RawMessage) map[string]string {
	var raw map[string]json.RawMessage
	if json.Unmarshal(object, &raw) != nil {
		return nil
	}
	out := map[string]string{}
	for key, value := range raw {
		var s string
		if json.Unmarshal(value, &s) == nil {
			out[key] = s
		}
	}
	return out
}

// table reads a file as TOML; other content is noted.
func (s topFiles) table(name string, to *Result) table {
	var t table
	if err := toml.Unmarshal(s[name], &t); err != nil {
		to.note(name + " is no TOML, or larger than 128 KiB: nothing is taken from it")
		return nil
	}
	return t
}

// table is TOML as it was read.
type table map[string]any

// at is the table under a dotted name: "tool.poetry"; nil if it does not exist.
func (t table) at(name string) table {
	for key := range strings.SplitSeq(name, ".") {
		next, _ := t[key].(map[string]any)
		t = next
	}
	return t
}

// has reports whether a table stands under a dotted name, even an empty one.
func (t table) has(name string) bool { return t.at(name) != nil }

// shows is what a file shows that has a table under a dotted name; "" without one.
func (t table) shows(file, name string) string {
	if !t.has(name) {
		return ""
	}
	return file + " has a table " + name
}

// requirements are files of pip that name what tests need, besides the first, which names what the program needs.
var requirements = []string{"requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt",
	"requirements-test.txt", "requirements_test.txt", "test-requirements.txt"}

// DependencyDirs are the names of directories in which tools install what a project depends on.
var DependencyDirs = []string{"node_modules", "bower_components", "jspm_packages", ".venv", "venv", "vendor", ".bundle",
	"Pods", "deps", "elm-stuff", ".dart_tool", ".pnp"}

// rebuiltDirs are the names of directories that tools make again from what is committed.
var rebuiltDirs = slices.Concat(DependencyDirs, []string{
	OwnEnvironment,
	"__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".eggs", "htmlcov", "target",
	"dist", "out", ".next", ".nuxt",
	".svelte-kit", ".turbo", ".nx", ".vite", ".parcel-cache", ".gradle", ".mvn", "coverage", ".nyc_output", "_build",
	".stack-work", "bin", "obj", ".idea",
	".vscode", ".ralph", ".ralph-active", ".ralph_state.md", ".ralph.lock", ".git", ".claude", ".codex", ".gemini",
	".opencode",
})

// rebuiltEndings are those of files that tools make again, or that nothing is built from.
var rebuiltEndings = []string{".pyc", ".pyo", ".o", ".obj", ".a", ".so", ".class", ".log", ".tmp", ".swp",
	".tsbuildinfo", ".DS_Store", ".coverage", "~"}

// Rebuilt reports whether a path is one that tools make again from what is committed, or keep for themselves.
func Rebuilt(name string) bool {
	parts := strings.Split(strings.TrimSuffix(name, "/"), "/")
	for _, part := range parts {
		if slices.Contains(rebuiltDirs, part) || strings.HasSuffix(part, ".egg-info") {
			return true
		}
	}
	base := parts[len(parts)-1]
	return slices.ContainsFunc(rebuiltEndings, func(ending string) bool { return strings.HasSuffix(base, ending) })
}

// sourceEndings are those of files that people write and programs are built from.
var sourceEndings = []string{
	".go", ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".rs", ".rb",
	".java", ".kt", ".kts", ".scala", ".groovy",
	".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm", ".swift", ".cs", ".fs", ".vb", ".php", ".pl", ".pm", ".lua",
	".sh", ".bash", ".ex", ".exs", ".erl", ".hs",
	".ml", ".mli", ".clj", ".dart", ".zig", ".nim", ".r", ".jl", ".sql", ".proto", ".graphql", ".css", ".scss", ".html",
	".json", ".yaml", ".yml", ".toml", ".xml",
}

// Source reports whether a path may be a file that someone has written.
func Source(name string) bool {
	return slices.Contains(sourceEndings, strings.ToLower(path.Ext(name)))
}

// setupReads are the names of files by which tools decide what to install.
var setupReads = []string{
	"go.mod", "go.sum", "go.work", "go.work.sum",
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
	"bun.lock", "bun.lockb", ".npmrc", ".yarnrc",
	".yarnrc.yml", ".nvmrc", ".node-version", "lerna.json", "deno.json", "deno.jsonc", "deno.lock",
	"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock",
	"environment.yml", ".python-version", "MANIFEST.in", "tox.ini",
	"Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.lockfile",
	"gradle.properties", "libs.versions.toml",
	"gradle-wrapper.properties", "build.sbt",
	"Gemfile", "Gemfile.lock", ".ruby-version", "composer.json", "composer.lock",
	"packages.lock.json", "Directory.Packages.props", "Directory.Build.props", "global.json", "nuget.config",
	"NuGet.config", "paket.dependencies", "paket.lock",
	"conanfile.txt", "conanfile.py", "vcpkg.json", "meson.build", "mix.exs", "mix.lock", "rebar.config", "rebar.lock",
	"pubspec.yaml", "pubspec.lock",
	"Package.swift", "Package.resolved", "Podfile", "Podfile.lock", "cpanfile", "cpanfile.snapshot", "stack.yaml",
	"stack.yaml.lock", "cabal.project", "flake.lock",
	".tool-versions", "mise.toml",
}

// SetupReads reports whether a file's name is one by which tools decide what to install: a manifest or a lock file.
func SetupReads(base string) bool {
	switch ext := path.Ext(base); {
	case slices.Contains(setupReads, base):
		return true
	case ext == ".txt":
		return strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "constraints") ||
			strings.HasSuffix(base, "requirements.txt")
	default:
		return slices.Contains([]string{".gemspec", ".csproj", ".fsproj", ".vbproj", ".sln", ".cabal", ".podspec"}, ext)
	}
}

// OwnEnvironment is the virtual environment that a detected setup makes: at the top, kept out of commits as ralph's own
// files are, and of a name that no one else gives one. What people have made themselves is never cleared.
const OwnEnvironment = ".venv-ralph"
