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
		"Pipfile", "composer.json", "CMakeLists.txt", "CMakePresets.json", "pubspec.yaml",
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

// object reads a file as a JSON object; what may not be one is noted.
func (s topFiles) object(name string, to *Result) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	text := bytes.TrimPrefix(s[name], []byte("\xef\xbb\xbf"))
	if json.Unmarshal(text, &object) != nil || object == nil {
		to.note(name + " is no JSON object, a link, or larger than 128 KiB: nothing is taken from it")
		return nil
	}
	return object
}

// objectWithComments is object for the files in which comments are allowed.
func (s topFiles) objectWithComments(name string, to *Result) map[string]json.RawMessage {
	plain, err := hujson.Standardize(bytes.Clone(s[name]))
	if err != nil {
		plain = nil
	}
	return topFiles{name: plain}.object(name, to)
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

// table reads a file as TOML; what is none is noted.
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

// at is the table under a dotted name: "tool.poetry"; nil when there is none.
func (t table) at(name string) table {
	for key := range strings.SplitSeq(name, ".") {
		next, _ := t[key].(map[string]any)
		t = next
	}
	return t
}

// has reports whether a table stands under a dotted name, even an empty one.
func (t table) has(name string) bool { return t.at(name) != nil }
