package proc_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

func init() {
	if os.Getenv("ACT_AS_HEADLESS") != "" {
		runtime.LockOSThread() // to the first thread
	}
}

func TestMain(m *testing.M) {
	if file := os.Getenv("ACT_AS_HEADLESS"); file != "" {
		actAsHeadless(file)
	}
	if os.Getenv("ACT_AS_RUNNER") != "" {
		_, _ = proc.Run(context.Background(),
			proc.Spec{Argv: []string{"sh", "-c", "echo $$ > root; exec sleep 600"}, Env: []string{"PATH=" + os.Getenv("PATH")}})
		return
	}
	if pid, err := strconv.Atoi(os.Getenv("ACT_AS_ENDER")); err == nil {
		proc.End([]int{pid}, 50*time.Millisecond)
		return
	}
	if os.Getenv("ACT_AS_FORGETFUL") != "" {
		actAsForgetful()
		return
	}
	if os.Getenv("ACT_AS_HARNESS") != "" {
		actAsHarness()
		return
	}
	os.Exit(m.Run())
}

// actAsHarness hides itself and lets a child of the same user look at it.
func actAsHarness() {
	if err := proc.HideSelf(); err != nil {
		fmt.Println(err)
	}
	var out bytes.Buffer
	_, err := proc.Run(context.Background(), proc.Spec{
		Argv: []string{"sh", "-c", fmt.Sprintf("cat /proc/%d/environ && echo read; tr '\\0' '\\n' </proc/self/environ | "+
			"grep -c THE_SECRET; id -u", os.Getpid())},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: &out,
	})
	fmt.Print(out.String(), err)
}

// actAsForgetful prints what of its environment others see, and what it knows itself.
func actAsForgetful() {
	err := proc.ForgetSecrets()
	seen, _ := os.ReadFile("/proc/self/environ")
	for entry := range strings.SplitSeq(string(seen), "\x00") {
		if strings.HasPrefix(entry, "MY_") {
			fmt.Println(entry)
		}
	}
	fmt.Println(os.Getenv("MY_API_KEY"), err)
}

// TestForgetSecrets: what looks like a secret is not in /proc any more, and nothing else is changed.
func TestForgetSecrets(t *testing.T) {
	var out bytes.Buffer
	r, err := proc.Run(context.Background(), proc.Spec{Argv: []string{os.Args[0]}, Stdout: &out, Stderr: &out,
		Env: []string{"ACT_AS_FORGETFUL=1", "MY_PLACE=here", "MY_API_KEY=hunter2", "MY_EMPTY_TOKEN=",
			"MY_CUSTOM_HEADERS=x-key: hunter2\nx-b: c", "MY_END=there"}})
	want := "MY_PLACE=here\nMY_API_KEY=xxxxxxx\nMY_EMPTY_TOKEN=\nMY_CUSTOM_HEADERS=" + strings.Repeat("x", 21) +
		"\nMY_END=there\nhunter2 <nil>\n"
	if err != nil || r.Exit != 0 || out.String() != want {
		t.Errorf("%+v, %v: %q, want %q", r, err, out.String(), want)
	}
}

// nobody is a user that is not root, whatever the system calls it; nil when we are not root ourselves.
func nobody(t *testing.T) *proc.User {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	return must(proc.LookupUser("65534:65534"))
}

// A child of the harness's own user reads nothing of the harness's environment.
func TestHideSelf(t *testing.T) {
	dir := must(os.MkdirTemp("", "harness"))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // for the other user
		t.Fatal(err)
	}
	harness := filepath.Join(dir, "harness")
	if err := os.WriteFile(harness, must(os.ReadFile(os.Args[0])), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := proc.Run(context.Background(), proc.Spec{
		Argv: []string{harness}, Dir: "/",
		Env:    []string{"PATH=" + os.Getenv("PATH"), "ACT_AS_HARNESS=1", "THE_SECRET=hunter2"},
		Stdout: &out, Stderr: &out, As: nobody(t),
	})
	want := fmt.Sprintf("0\n%d\n<nil>", max(os.Geteuid(), 0))
	if os.Geteuid() == 0 {
		want = "0\n65534\n<nil>"
	}
	if err != nil || r.Exit != 0 || out.String() != want {
		t.Errorf("%+v, %v: %q, want %q", r, err, out.String(), want)
	}
}

// A process of another user gains nothing: no group, no way back up, no look at us.
func TestRunAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 { // and then it is the harness that cannot do its part
		other := &proc.User{UID: uint32(os.Geteuid()) + 1, GID: uint32(os.Getegid()) + 1}
		if r, err := proc.Run(context.Background(),
			proc.Spec{Argv: []string{"/bin/sh", "-c", "exit 0"}, As: other}); err == nil || r.Class == proc.Exited {
			t.Errorf("%+v, %v", r, err)
		}
		return
	}
	var out, errs bytes.Buffer
	r, err := proc.Run(context.Background(), proc.Spec{
		Argv: []string{"sh", "-c", fmt.Sprintf(
			`id -u; id -G; grep NoNewPrivs /proc/self/status; cat /proc/%d/environ && echo read; echo again >/dev/stdout; echo "$HOME"`, os.Getpid())},
		Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, Stdout: &out, Stderr: &errs,
		As: nobody(t),
	})
	if err != nil || r.Exit != 0 || out.String() != "65534\n65534\nNoNewPrivs:\t1\nagain\n/nonexistent\n" ||
		!strings.Contains(errs.String(), "ermission denied") {
		t.Errorf("%+v, %v: %q, %q", r, err, out.String(), errs.String())
	}
	for range 8 { // what runs as ourselves afterwards has what we have, whichever thread starts it
		out.Reset()
		if _, err := proc.Run(context.Background(), proc.Spec{
			Argv: []string{"grep", "NoNewPrivs", "/proc/self/status"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: &out,
		}); err != nil || out.String() != "NoNewPrivs:\t0\n" {
			t.Errorf("the harness renounced its own privileges: %q, %v", out.String(), err)
		}
	}
}

func TestLookupUser(t *testing.T) {
	if u, err := proc.LookupUser("root"); err != nil || u.UID != 0 || u.Home == "" {
		t.Errorf("root: %+v, %v", u, err)
	}
	for _, bad := range []string{"no-such-user", "1000:", "a:b", "-1:0", "1:99999999999"} {
		if u, err := proc.LookupUser(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %+v, %v", bad, u, err)
		}
	}
}
