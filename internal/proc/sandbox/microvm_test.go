//go:build unix

package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// desk is a machine with a docker that logs what it is asked.
type desk struct {
	t              *testing.T
	dir, clone     string
	log            string
	parent         []string
	settled        int
	state, machine string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	d := &desk{t: t, dir: dir, clone: filepath.Join(dir, "my project"), log: filepath.Join(dir, "log"),
		state: filepath.Join(dir, "home", ".dclaude_state")}
	d.machine = Options{}.machineName(d.clone, "")
	for _, name := range []string{d.clone, filepath.Join(dir, "home"), filepath.Join(dir, "bin")} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := must(os.ReadFile(filepath.Join("..", "..", "..", "testdata", "sandbox", "docker")))
	if err := os.WriteFile(filepath.Join(dir, "bin", "docker"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	d.write("file.txt", "one")
	d.parent = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"), "DOCKER_LOG=" + d.log}
	t.Cleanup(func() {
		if unknown, err := os.ReadFile(d.log + ".unknown"); err == nil {
			t.Errorf("docker was asked what it does not know:\n%s", unknown)
		}
	})
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.clone, name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) open() *Sandbox {
	d.t.Helper()
	s := must(Open(context.Background(), d.options()))
	d.t.Cleanup(s.Close)
	return s
}

func (d *desk) options() Options {
	return Options{
		Mode: DockerSandbox, Trees: Trees{Dir: d.clone}, Parent: slices.Clone(d.parent), Reach: Reach{Network: []string{"proxy.golang.org"}},
		Agents: []Agent{{Name: "claude", Hosts: []string{"*.anthropic.com"}}}, Log: func(string, ...any) {},
		self:     "/bin/true",
		settling: func() { d.settled++ },
	}
}

// calls are docker's arguments so far, without "sandbox".
func (d *desk) calls() []string {
	d.t.Helper()
	var calls []string
	for line := range strings.Lines(string(must(os.ReadFile(d.log)))) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "[sandbox] ")
		line = strings.NewReplacer(d.machine, "NAME", d.clone, "DIR", d.state, "STATE").Replace(line)
		calls = append(calls, line)
	}
	return calls
}

func (d *desk) run(b proc.Box, stdin string, argv ...string) string {
	d.t.Helper()
	var out bytes.Buffer
	spec := proc.Spec{Argv: argv, Dir: d.clone, Env: d.parent, Box: b, Stdout: &out, Stderr: &out, Timeout: time.Minute}
	if stdin != "" {
		spec.Stdin = strings.NewReader(stdin)
	}
	if r, err := proc.Run(context.Background(), spec); err != nil || r.Class != proc.Exited {
		d.t.Fatalf("%+v %v %s", r, err, out.String())
	}
	return out.String()
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var first = []string{
	"[ls]",
	"[create] [--name] [NAME] [claude] [DIR] [STATE]",
	"[exec] [-u] [root] [NAME] [bash] [-c] [" + strings.ReplaceAll(linkLogin, "\n", "|") + "] [bash] [STATE]",
	"[exec] [NAME] [bash] [-c] [" + strings.ReplaceAll(nameCommitter, "\n", "|") + "]",
	"[network] [proxy] [NAME] [--policy] [deny] [--allow-host] [proxy.golang.org] [--allow-host] [*.anthropic.com]",
}

// TestMachineIsMadeOnce: the calls of S4-26…S4-35, in order, and of a second run that finds the machine (S4-33).
func TestMachineIsMadeOnce(t *testing.T) {
	d := newDesk(t)
	if got := (Options{}).machineName("/home/me/my project+x_1.2-3", ""); got != "ralph-_home_me_my_project_x_1.2-3" {
		t.Error(got)
	}
	s := d.open()
	equal(t, d.calls(), first)
	if s.Mode != DockerSandbox {
		t.Errorf("%+v", s)
	}
	said := d.run(s.Box(Works), "Do it.\n", "/usr/bin/claude", "-p", "--output-format", "stream-json", "--verbose",
		"--dangerously-skip-permissions")
	if said != "said in the machine\n" || d.settled != 1 {
		t.Errorf("%q, settled %d times", said, d.settled)
	}
	after := append(slices.Clone(first), "[run] [NAME] [--] [-p] [Do it.|] [--output-format] [stream-json] [--verbose]")
	equal(t, d.calls(), after)
	d.open()
	equal(t, d.calls(), append(after, "[ls]", "[stop] [NAME]", first[4]))
}

// TestMachineChecks: a check runs in the machine, where its exit code comes from.
func TestMachineChecks(t *testing.T) {
	d := newDesk(t)
	s := d.open()
	r, err := proc.Run(context.Background(),
		proc.Spec{Argv: []string{"sh", "-c", "test -e file.txt && exit 3"}, Dir: d.clone, Env: d.parent, Box: s.Box(Checks)})
	if err != nil || r.Exit != 3 {
		t.Errorf("%+v %v", r, err)
	}
	equal(t, d.calls(), append(slices.Clone(first), "[exec] [-w] [DIR] [NAME] [sh] [-c] [test -e file.txt && exit 3]"))
}

// TestMachineIsTold: what is written here between two turns is written there by exec (S4-34), and what is gone is
// removed.
func TestMachineIsTold(t *testing.T) {
	d := newDesk(t)
	d.write("old.txt", "x")
	s := d.open()
	d.run(s.Box(Works), "", "claude", "-p")
	d.write("file.txt", "changed")
	d.write("-new.txt", "new")
	if err := os.Remove(filepath.Join(d.clone, "old.txt")); err != nil {
		t.Fatal(err)
	}
	d.run(s.Box(Works), "", "claude", "-p")
	equal(t, d.calls()[len(first)+1:], []string{
		"[exec] [-w] [DIR] [NAME] [rm] [-f] [--] [./old.txt]",
		"[exec] [-i] [-w] [DIR] [NAME] [tar] [-x] [-f] [-]",
		"[run] [NAME] [--] [-p]",
	})
	packed := must(os.Open(d.log + ".tar"))
	defer packed.Close()
	got, r := map[string]string{}, tar.NewReader(packed)
	for h, err := r.Next(); !errors.Is(err, io.EOF); h, err = r.Next() {
		got[must(h, err).Name] = string(must(io.ReadAll(r)))
	}
	if len(got) != 2 || got["file.txt"] != "changed" || got["-new.txt"] != "new" {
		t.Errorf("%v", got)
	}
	d.run(s.Box(Works), "", "claude", "-p") // nothing has changed
	if calls := d.calls(); len(calls) != len(first)+5 {
		t.Errorf("%v", calls[len(first):])
	}
}

// TestLongPrompt: what is too long for an argument is written to the machine.
func TestLongPrompt(t *testing.T) {
	d := newDesk(t)
	s := d.open()
	long := strings.Repeat("Do it well. ", 20_000)
	d.run(s.Box(Works), long, "claude", "-p", "--verbose")
	equal(t, d.calls()[len(first):], []string{
		"[exec] [-i] [NAME] [sh] [-c] [cat > /tmp/ralph-prompt.txt]",
		"[run] [NAME] [--] [-p] [Read the file /tmp/ralph-prompt.txt; it holds your whole task.] [--verbose]",
	})
	if said, err := os.ReadFile(d.log + ".in"); err != nil || string(said) != long {
		t.Errorf("%v: %d bytes", err, len(said))
	}
}

// TestMachineIsNotThere: what is missing is said, with what to do (S4-40).
func TestMachineIsNotThere(t *testing.T) {
	for name, change := range map[string]func(o *Options){
		"docker sandbox ls does not work": func(o *Options) { o.Parent = append(o.Parent, "DOCKER_BROKEN=1") },
		"docker is not installed":         func(o *Options) { o.Parent = []string{"PATH=/nowhere", "HOME=/"} },
		"it runs only claude":             func(o *Options) { o.Agents = []Agent{{Name: "codex"}} },
	} {
		d := newDesk(t)
		o := d.options()
		change(&o)
		_, err := Open(context.Background(), o)
		var missing *UnavailableError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "install Docker Desktop from 4.58 on") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMachineOfAClone: the tasks of a clone have its machine one after another, and another one only while a checkout of
// the first is kept. Of the clone the machine has the objects, to read.
func TestMachineOfAClone(t *testing.T) {
	d := newDesk(t)
	clone := filepath.Join(d.dir, "clone")
	open := func(task string) {
		t.Helper()
		d.clone = filepath.Join(d.dir, "checkouts", task, "work")
		info := filepath.Join(d.clone, ".git", "objects", "info")
		objects := filepath.Join(clone, ".git", "objects")
		if err := errors.Join(os.MkdirAll(info, 0o755), os.MkdirAll(objects, 0o755),
			os.WriteFile(filepath.Join(info, "alternates"), []byte(objects+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		o := d.options()
		o.Hide = []string{clone}
		t.Cleanup(must(Open(context.Background(), o)).Close)
	}
	open("one")
	open("two")
	if err := os.RemoveAll(filepath.Join(d.dir, "checkouts", "one")); err != nil {
		t.Fatal(err)
	}
	open("three")
	open("two")
	d.machine = Options{}.machineName(clone, "")
	var got []string
	for _, call := range d.calls() {
		if call = strings.ReplaceAll(call, d.dir, "HERE"); !strings.HasPrefix(call, "[exec]") && !strings.HasPrefix(call, "[network]") {
			got = append(got, strings.ReplaceAll(call, "DIR", "HERE/checkouts/two/work"))
		}
	}
	made := func(name, task string) string {
		return "[create] [--name] [" + name + "] [claude] [HERE/checkouts/" + task + "/work] [STATE] [HERE/clone/.git/objects:ro]"
	}
	equal(t, got, []string{"[ls]", made("NAME", "one"), "[ls]", made("NAME-2", "two"), "[ls]", "[rm] [NAME]", made("NAME", "three"),
		"[ls]", "[stop] [NAME-2]"})
}
