package internal_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestNotices: the file that goes with a release has the license of everything that a ralph binary is made of. With
// RALPH_UPDATE_NOTICES it is written anew.
func TestNotices(t *testing.T) {
	const file = "../THIRD_PARTY_NOTICES"
	var want bytes.Buffer
	noError(t, writeNotices(&want))
	if os.Getenv("RALPH_UPDATE_NOTICES") != "" {
		noError(t, os.WriteFile(file, want.Bytes(), 0o644))
	}
	if document(t, file) != want.String() {
		t.Error("THIRD_PARTY_NOTICES is not what make notices writes: run it")
	}
}

// platforms are those that ralph is built for: each links modules that others do not.
var platforms = []string{"linux/amd64", "darwin/amd64", "windows/amd64"}

// vendored is what is built in besides modules.
var vendored = []linkedModule{{"htmx.org", "4.0.1", "web/static"}}

// linkedModule is what go tells of one.
type linkedModule struct{ path, version, dir string }

// linked are the modules of the packages of which a binary for any of the platforms is made, in the order of their paths.
// None of the packages is a double.
var linked = sync.OnceValues(func() (modules []linkedModule, err error) {
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "/")
		list := exec.Command("go", "list", "-deps", "-f",
			"{{.ImportPath}}\t{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "../cmd/ralph")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list, for %s: %w", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if strings.HasPrefix(f[0], module+"internal/fake") {
				return nil, fmt.Errorf("%s is in the binary", f[0])
			}
			if len(f) == 4 {
				modules = append(modules, linkedModule{f[1], f[2], f[3]})
			}
		}
	}
	slices.SortFunc(modules, func(a, b linkedModule) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(modules), nil
})

// writeNotices prints the texts: that of Go, whose library is in every binary, and that of each module.
func writeNotices(to io.Writer) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	standard := []linkedModule{{"the Go standard library", "", strings.TrimSpace(string(root))}}
	const head = "ralph is made with the software below, under these licenses. make notices writes this file.\n"
	if _, err := io.WriteString(to, head); err != nil {
		return err
	}
	for _, m := range slices.Concat(standard, modules, vendored) {
		texts, err := licenses(m.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		name := strings.TrimSpace(m.path + " " + m.version)
		if _, err := fmt.Fprintf(to, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), name, texts); err != nil {
			return err
		}
	}
	return nil
}

var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([._-].*)?$`)

// licenses are the texts at the top of a module.
func licenses(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, e := range entries {
		if e.IsDir() || !isLicense.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		texts = append(texts, string(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))))
	}
	if len(texts) == 0 {
		return "", fmt.Errorf("no license in %s", dir)
	}
	return strings.Join(texts, "\n\n"), nil
}
