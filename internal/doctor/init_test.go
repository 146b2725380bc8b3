package doctor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/session"
)

// initialize runs ralph init in a directory on these answers, a line each.
func initialize(t *testing.T, dir string, answers ...string) (dialogue string, err error) {
	t.Helper()
	var out strings.Builder
	i := &Init{Session: session.Session{Dir: dir, Parent: withAgents(t), Out: &out},
		In: strings.NewReader(strings.Join(answers, "\n") + "\n")}
	err = i.Run(t.Context())
	return out.String(), err
}

// withAgents is an environment in which git is installed, and of the agents these, with a key of claude's.
func withAgents(t *testing.T, names ...string) []string {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	git, err := exec.LookPath("git")
	noError(t, err)
	noError(t, os.Symlink(git, filepath.Join(bin, "git")))
	for _, name := range names {
		noError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho 1.2.3\n"), 0o755))
	}
	return []string{"PATH=" + bin, "HOME=" + home, "ANTHROPIC_API_KEY=sk-not-to-be-shown"}
}

// found begins init in a directory with a module of Go and agents.
func found(t *testing.T, i Init, answers string, files ...string) (dir, out string, err error) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range append([]string{"go.mod"}, files...) {
		put(t, dir, name, "module x\n")
	}
	var said strings.Builder
	i.Dir, i.Parent, i.In, i.Out = dir, withAgents(t, "codex", "claude"), strings.NewReader(answers), &said
	err = i.Run(t.Context())
	return dir, said.String(), err
}

func TestInitBeginsFromWhatIsFound(t *testing.T) {
	accepted := filesIn(t, "testdata")["accepted.json"]
	for _, answer := range []string{"\n", "y\n", "YES\n", "what\n\n"} {
		dir, out, err := found(t, Init{}, answer)
		if got := filesIn(t, dir)[config.SettingsFile]; err != nil || got != accepted || !strings.Contains(out, accepted) {
			t.Errorf("%q: %v; %s; shown was:\n%s", answer, err, got, out)
		}
		for _, line := range []string{"  agent   claude, 1.2.3, key in ANTHROPIC_API_KEY\n          also here: codex",
			"  checks  go build ./...  (go.mod is there)\n", "  setup   nothing has to be installed\n", "Write this? (Y/n/e to edit): "} {
			if !strings.Contains(out, line) || strings.Contains(out, "not-to-be-shown") {
				t.Errorf("%q is not in:\n%s", line, out)
			}
		}
	}
	if dir, out, err := found(t, Init{}, "n\n"); err != nil || filesIn(t, dir)[config.SettingsFile] != "" ||
		!strings.HasSuffix(out, "Nothing is written.\n") {
		t.Errorf("declined: %v\n%s", err, out)
	}
	dir, _, err := found(t, Init{}, "")
	if !errors.Is(err, session.ErrAborted) || filesIn(t, dir)[config.SettingsFile] != "" {
		t.Errorf("left: %v", err)
	}
}

// TestInitEdits asks S1's questions, with what was found as the answers of who only presses Enter.
func TestInitEdits(t *testing.T) {
	dir, out, err := found(t, Init{}, "e\n\n\n\n\n\n\n\nnone\n\n", "package.json", "package-lock.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "other LLM CLI) [claude]: ") || !strings.Contains(out, "Keep them? (Y/n): ") {
		t.Errorf("the answers are not suggested:\n%s", out)
	}
	got := filesIn(t, dir)[config.SettingsFile]
	s, err := config.Load(config.Layer{Name: config.SettingsFile, JSON: []byte(got)})
	if err != nil || s.Agent.Command != "claude" || len(s.Guardrails) != 3 || s.Iterations(0) != 10 || s.Setup != "" {
		t.Errorf("%v\n%s", err, got)
	}
	dir, out, err = found(t, Init{}, "e\namp\n\n\n\nn\nmake test\n\n\n\n\n")
	got = filesIn(t, dir)[config.SettingsFile]
	s, lerr := config.Load(config.Layer{Name: config.SettingsFile, JSON: []byte(got)})
	if errors.Join(err, lerr) != nil || s.Agent.Command != "amp" || len(s.Guardrails) != 1 ||
		s.Guardrails[0].Command != "make test" {
		t.Errorf("%v %v\n%s\n%s", err, lerr, got, out)
	}
}

// TestInitWithoutAQuestion: a setup is written with the checks that need it, and without checks a warning is printed. What else there is without a question, the
// script init.txtar holds.
func TestInitWithoutAQuestion(t *testing.T) {
	for want, files := range map[string][]string{
		"\"bundle exec rspec\"\n    }\n  ],\n  \"setup\": \"bundle install\"\n}\n": {"Gemfile", "Gemfile.lock", ".rspec"},
		// a run of a prompt has no environment that a setup would have made
		"\"claude\"\n  }\n}\n": {"requirements.txt", "pytest.ini"},
	} {
		dir, out, err := found(t, Init{Yes: true}, "", files...)
		if got := filesIn(t, dir)[config.SettingsFile]; err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%v\n%s\n%s", err, got, out)
		}
	}
	var out strings.Builder
	alone := Init{Session: session.Session{Dir: t.TempDir(), Parent: withAgents(t), Out: &out}, Yes: true, Given: Given{Agent: "sh"}}
	if err := alone.Run(t.Context()); err != nil || !strings.Contains(out.String(), "warning: no checks") {
		t.Errorf("without a check: %v\n%s", err, out.String())
	}
}

// files is everything below a directory, with its content.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = string(content)
		return err
	})
	noError(t, err)
	return found
}

func TestInitWritesWhatWasAnswered(t *testing.T) { // S1-34…S1-43
	dir := t.TempDir()
	out, err := initialize(t, dir, "", "  ", " claude ", " --model , opus,", "zero", "0", "-1", "1001", "7", "FINISHED",
		"make lint && make vet", "later", "prepend", "Fix lint errors only.", "make test", "", "", "", "YES", "git",
		"commit , push")
	noError(t, err)
	for sentence, times := range map[string]int{"An agent command is needed.": 2,
		"Maximum iterations is a whole number from 1 to 1000.":               4,
		"  A fail action is APPEND, PREPEND or REPLACE; blank means APPEND.": 1,
		"Settings written to .ralph/settings.json\n":                         1} {
		if strings.Count(out, sentence) != times {
			t.Errorf("%q is not there %d times:\n%s", sentence, times, out)
		}
	}
	got := filesIn(t, dir)
	if got[".ralph/settings.json"] != filesIn(t, "testdata")["initialized.json"] || got[".ralph/.gitignore"] != session.Ignored || len(got) != 2 {
		t.Errorf("%v", got)
	}
	s, err := config.Load(config.Layer{Name: config.SettingsFile, JSON: []byte(got[".ralph/settings.json"])})
	if err != nil || s.Iterations(0) != 7 || s.Guardrails[1].FailAction != config.Append || len(s.SCM.Tasks) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestInitWithDefaults: without a command, source control is not configured.
func TestInitWithDefaults(t *testing.T) {
	dir := t.TempDir()
	out, err := initialize(t, dir, "codex", "", "", "", "", "y", "")
	noError(t, err)
	s, err := config.Load(config.Layer{Name: config.SettingsFile, JSON: []byte(filesIn(t, dir)[".ralph/settings.json"])})
	if err != nil || s.Iterations(0) != 10 || s.CompletionResponse != "DONE" || s.Agent.Command != "codex" ||
		s.GuardrailsFrom != "" || s.SCM != nil || !strings.Contains(out, "SCM is not configured") {
		t.Errorf("%+v, %v\n%s", s, err, out)
	}
}

func TestInitShowsWhatThereIs(t *testing.T) { // S1-29…S1-33
	base, local := `{"agent": {"command": "amp", "flags": ["--token=hush"]}} // ours`, `{"maximumIterations": 3}`
	for _, test := range []struct {
		name, local, answer, loaded string
		overwritten                 bool
	}{
		{"declined", "", "n", "\nLoaded from .ralph/settings.json\nOverwrite? (y/N): ", false},
		{"blank", "", "", "\nLoaded from .ralph/settings.json\nOverwrite? (y/N): ", false},
		{"nonsense", "", "yep", "\nLoaded from .ralph/settings.json\nOverwrite? (y/N): ", false},
		{"overlay", local, "N", "\nLoaded from .ralph/settings.json (with local overlay from " +
			"settings.local.json)\nOverwrite? (y/N): ", false},
		{"overwritten", local, "Y", "\nLoaded from .ralph/settings.json (with local overlay from " +
			"settings.local.json)\nOverwrite? (y/N): \nAgent command", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, config.SettingsFile, base)
			put(t, dir, ".ralph/.gitignore", "mine\n")
			if test.local != "" {
				put(t, dir, config.LocalSettingsFile, test.local)
			}
			out, err := initialize(t, dir, test.answer, "codex", "", "", "", "", "")
			if err != nil || !strings.Contains(out, test.loaded) || !strings.Contains(out, `"command": "amp"`) ||
				strings.Contains(out, "hush") ||
				strings.Contains(out, `"maximumIterations": 3`) != (test.local != "") {
				t.Errorf("%v\n%s", err, out)
			}
			got := filesIn(t, dir)
			if (got[config.SettingsFile] != base) != test.overwritten || got[config.LocalSettingsFile] != test.local ||
				got[".ralph/.gitignore"] != "mine\n" {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestInitAbortedAnywhereWritesNothing ends the answers before each of the questions: by their end, and by a cancelled
// context.
func TestInitAbortedAnywhereWritesNothing(t *testing.T) { // S1-28
	answers := []string{"claude", "", "", "", "make test", "", "", "", "y", "git", "commit"}
	for n := range answers {
		dir := t.TempDir()
		if _, err := initialize(t, dir, append(answers[:n:n], "half a li")[:n]...); n > 0 &&
			!errors.Is(err, session.ErrAborted) {
			t.Errorf("end before question %d: %v", n, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		in, typed := io.Pipe()
		go func() {
			for _, answer := range answers[:n] {
				_, _ = io.WriteString(typed, answer+"\n")
			}
			_, _ = io.WriteString(typed, "half a li") // is read when the question is asked
			cancel()
		}()
		var out strings.Builder
		if err := (&Init{Session: session.Session{Dir: dir, Parent: withAgents(t), Out: &out}, In: in}).Run(ctx); !errors.Is(err, session.ErrAborted) {
			t.Errorf("interrupted at question %d: %v", n, err)
		}
		if got := filesIn(t, dir); len(got) > 0 {
			t.Errorf("aborted at question %d: %v", n, got)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		ready func(t *testing.T, dir string)
		want  string
	}{
		{"broken settings", func(t *testing.T, dir string) { put(t, dir, config.SettingsFile, `{"agnet": 1}`) },
			".ralph/settings.json: agnet is an unknown key"},
		{"broken local settings", func(t *testing.T, dir string) { put(t, dir, config.LocalSettingsFile, `{`) },
			".ralph/settings.local.json is not JSON"},
		{"a file in the place of the directory", func(t *testing.T, dir string) { put(t, dir, ".ralph", "") },
			"not a directory"},
		{"a directory in the place of the file", func(t *testing.T, dir string) { put(t, dir, ".ralph/settings.json/x", "") },
			"it is a directory, not a file"},
		{"a link in the place of the directory", func(t *testing.T, dir string) {
			noError(t, os.Symlink(t.TempDir(), filepath.Join(dir, ".ralph")))
		}, "its directory is a link"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.ready(t, dir)
			before := len(filesIn(t, dir))
			_, err := initialize(t, dir, "claude", "", "", "", "", "")
			if err == nil || errors.Is(err, session.ErrAborted) || !strings.Contains(err.Error(), test.want) ||
				len(filesIn(t, dir)) != before {
				t.Errorf("%v, want %q; %v", err, test.want, filesIn(t, dir))
			}
		})
	}
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)))
}
