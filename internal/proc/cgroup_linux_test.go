package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// TestFindGroups looks for a place among directories that look as the kernel's do.
func TestFindGroups(t *testing.T) {
	const refused = "refused"
	for name, test := range map[string]struct {
		own     string            // of /proc/self/cgroup
		root    string            // of the mount
		control map[string]string // what groups below a group are held to
		want    string            // "": nowhere
	}{
		"its own":                  {"0::/user/app", "/", map[string]string{"user/app": "cpu memory pids"}, "user/app"},
		"one above":                {"0::/user/app", "/", map[string]string{"user/app": "", "user": "memory pids"}, "user"},
		"of a container":           {"0::/docker/x/app", "/docker/x", map[string]string{"app": "memory pids"}, "app"},
		"without memory":           {"0::/user", "/", map[string]string{"user": "pids"}, ""},
		"that cannot be":           {"0::/user", "/", map[string]string{"user": refused}, ""},
		"only the older version":   {"4:memory:/user", "/", map[string]string{"user": "memory pids"}, ""},
		"mounted without our part": {"0::/other", "/docker", map[string]string{"": "memory pids"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for dir, on := range test.control {
				must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
				must(t, os.WriteFile(filepath.Join(top, dir, "cgroup.procs"), []byte("1\n"), 0o644))
				control := filepath.Join(top, dir, "cgroup.subtree_control")
				if on == refused {
					must(t, os.Mkdir(control, 0o755))
				} else {
					must(t, os.WriteFile(control, []byte(on+"\n"), 0o644))
				}
			}
			mountinfo, own := filepath.Join(t.TempDir(), "mountinfo"), filepath.Join(t.TempDir(), "cgroup")
			mounted := "30 20 0:26 " + test.root + " " + top + " rw,nosuid - cgroup2 cgroup2 rw\n"
			must(t, os.WriteFile(mountinfo, []byte(mounted), 0o644))
			must(t, os.WriteFile(own, []byte("1:name=systemd:/\n"+test.own+"\n"), 0o644))
			got := findGroups(mountinfo, own)
			if test.want != "" {
				test.want = filepath.Join(top, test.want)
			}
			if got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestGroups has the kernel hold processes to limits, where it does.
func TestGroups(t *testing.T) {
	parent := groupsOf()
	need.That(t, "cgroup2", parent != "")
	for name, test := range map[string]struct {
		script string
		limits Limits
		limit  Limit
	}{
		"a fork bomb": {"b() { b | b & }; b; sleep 300", Limits{Processes: 200}, LimitProcesses},
		"one that flees": {"setsid sh -c 'while :; do setsid sleep 300 & done' & sleep 300", Limits{Processes: 100},
			LimitProcesses},
		"memory": {"{ head -c 300000000 /dev/zero; sleep 300; } | tail", Limits{Memory: 100 << 20}, LimitMemory},
		"memory in files": {"head -c 300000000 /dev/zero > /dev/shm/ralph-test; sleep 300; rm -f /dev/shm/ralph-test",
			Limits{Memory: 100 << 20}, LimitMemory},
		"little": {"echo", Limits{Processes: 100, Memory: 100 << 20}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			r, err := Run(context.Background(), Spec{Argv: []string{"sh", "-c", test.script}, Dir: t.TempDir(),
				Env: os.Environ(), Timeout: time.Minute, Limits: test.limits})
			_ = os.Remove("/dev/shm/ralph-test")
			if err != nil || r.Limit != test.limit {
				t.Errorf("%+v, %v", r, err)
			}
			t.Logf("%s, %s", time.Since(began), r.Why)
			if left, _ := filepath.Glob(filepath.Join(parent, fmt.Sprintf("%s%d-*", groupPrefix, os.Getpid()))); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
