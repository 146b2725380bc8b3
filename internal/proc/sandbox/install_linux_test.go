package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/proc"
)

// runner is a directory of programs like that of a runner: all that are here but bwrap, which apt-get brings.
func runner(t *testing.T, apt string) (path string) {
	t.Helper()
	bwrap := need.Program(t, "bwrap")
	dir := t.TempDir()
	for _, name := range []string{"sh", "git", "ln", "cat", "true", "env"} {
		if err := os.Symlink(must(exec.LookPath(name)), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range map[string]string{
		"sudo":   `[ "$1" = -n ] && shift; exec "$@"`,
		"sysctl": "true",
		"apt-get": fmt.Sprintf("echo \"$*\" >>%[1]s/asked\nbring() { ln -sf %[2]s %[1]s/bwrap; }\n%[3]s", dir, bwrap,
			apt),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestInstall(t *testing.T) {
	const bring = "install --yes --no-install-recommends bubblewrap\n"
	for _, c := range []struct {
		name, apt string
		not       bool // nothing may be installed
		mode      string
		asked     string // of apt-get
		says      string // of the error, or of the log
	}{
		{name: "at once", apt: `[ "$1" != install ] || bring`, mode: Auto, asked: bring, says: "installing it"},
		{name: "after an update", mode: Auto, asked: bring + "update\n" + bring, says: "installing it",
			apt: `[ "$1" != update ] || : >"$0.new"; [ "$1" != install ] || { [ -e "$0.new" ] && bring; }`},
		{name: "for require", apt: `[ "$1" != install ] || bring`, mode: Require, asked: bring, says: "installing it"},
		{name: "not allowed", apt: `bring`, not: true, mode: Auto, says: "bubblewrap is not installed; "},
		{name: "no mirror", apt: `echo "E: no network" >&2; exit 100`, mode: Auto, asked: bring + "update\n",
			says: "could not be installed: apt-get update: exited, exit code 100: E: no network"},
		{name: "landlock was asked for", apt: `bring`, mode: Landlock, says: "sandbox: landlock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := runner(t, c.apt)
			var log strings.Builder
			s, err := Open(context.Background(), Options{
				Mode: c.mode, Trees: Trees{Dir: t.TempDir()}, Home: t.TempDir(), Job: &Job{Install: !c.not},
				Parent: []string{"PATH=" + path, "HOME=/nowhere"},
				Log:    func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) },
			})
			if err == nil {
				t.Cleanup(s.Close)
			}
			asked, _ := os.ReadFile(filepath.Join(path, "asked"))
			if string(asked) != c.asked {
				t.Errorf("apt-get was asked %q, want %q", asked, c.asked)
			}
			if said := log.String() + fmt.Sprint(err); !strings.Contains(said, c.says) {
				t.Errorf("said %q, want %q", said, c.says)
			}
			if want := strings.Contains(c.asked, bring) && c.says == "installing it"; want && (err != nil || s.Mode != Bwrap) {
				t.Errorf("the sandbox is %+v, %v", s, err)
			}
		})
	}
}

// TestAutoInAJob: what a laptop falls back to is no sandbox for a job that nobody watches.
func TestAutoInAJob(t *testing.T) {
	other := &proc.User{UID: 10001, GID: 10001, Home: "/nowhere"}
	for _, c := range []struct {
		name string
		job  bool
		as   *proc.User
		want string // a mode, or part of the error
	}{
		{"a laptop", false, nil, Landlock},
		{"a job whose agents are another user", true, other, Landlock},
		{"a job whose agents are ralph's own user", true, nil, "apt-get install bubblewrap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			need.That(t, "root", c.as == nil || os.Geteuid() == 0) // nobody else can become another user
			dir := t.TempDir()
			for at := dir; at != "/tmp" && at != "/"; at = filepath.Dir(at) {
				if err := os.Chmod(at, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			o := Options{
				Mode: Auto, Trees: Trees{Dir: dir}, Home: t.TempDir(), As: c.as, Scratch: dir,
				Parent: []string{"PATH=" + runner(t, "exit 1"), "HOME=/nowhere"},
			}
			if c.job {
				o.Job = &Job{}
			}
			s, err := Open(context.Background(), o)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error is %v, want %q", err, c.want)
				}
				return
			}
			t.Cleanup(s.Close)
			if s.Mode != c.want {
				t.Errorf("the sandbox is %s, want %s", s.Mode, c.want)
			}
		})
	}
}
