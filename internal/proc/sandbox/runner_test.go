package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRunnersAreHidden: what a runner keeps beside a job is in no box, wherever its variables say that it lies.
func TestRunnersAreHidden(t *testing.T) {
	top := t.TempDir()
	in := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"_work/_temp/_runner_file_commands", "_work/demo/demo", "elsewhere", "plain"} {
		if err := os.MkdirAll(in(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{".credentials", "elsewhere/event.json"} {
		if err := os.WriteFile(in(file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what        string
		env         []string
		dirs, files []string
	}{
		{"a person's machine", []string{"HOME=/root"}, nil, nil},
		{"a container", []string{"GITHUB_ACTIONS=true", "GITHUB_EVENT_PATH=/github/workflow/event.json"},
			[]string{"/github"}, []string{"/github/workflow/event.json"}},
		{"a runner of one's own", []string{"RUNNER_TEMP=" + in("_work/_temp"), "GITHUB_WORKSPACE=" + in("_work/demo/demo"),
			"GITHUB_ENV=" + in("_work/_temp/_runner_file_commands/set_env_1")},
			[]string{in("_work/_temp"), in("_work/demo/demo"), in("_work"), top},
			[]string{in("_work/_temp/_runner_file_commands/set_env_1")}},
		{"directories of somebody's choice", []string{"RUNNER_TEMP=" + in("plain"), "GITHUB_OUTPUT=relative",
			"GITHUB_EVENT_PATH=" + in("elsewhere/event.json")}, []string{in("plain")}, []string{in("elsewhere/event.json")}},
	} {
		dirs, files := ofRunner(c.env)
		if !slices.Equal(dirs, c.dirs) || !slices.Equal(files, c.files) {
			t.Errorf("%s: %q and %q, want %q and %q", c.what, dirs, files, c.dirs, c.files)
		}
	}
}
