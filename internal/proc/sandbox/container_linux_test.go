package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

func containerDesk(t *testing.T) (*desk, Options) {
	t.Helper()
	d := newDesk(t)
	script := must(os.ReadFile(filepath.Join("..", "..", "..", "testdata", "sandbox", "engine")))
	for name, text := range map[string]string{
		"docker": "#!/bin/sh\necho Cannot connect to the Docker daemon >&2\nexit 1\n", "podman": string(script),
	} {
		if err := os.WriteFile(filepath.Join(d.dir, "bin", name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := d.options()
	o.Mode, o.Image, o.Agents[0].Files = Container, "example/image:1", []File{{Path: "login"}}
	d.parent = append(d.parent, "MY_KEY=very secret")
	if err := os.WriteFile(filepath.Join(d.dir, "home", "login"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return d, o
}

// TestContainerCalls: what an engine is asked for, to the letter. Docker, which is looked for first, does not run.
func TestContainerCalls(t *testing.T) {
	d, o := containerDesk(t)
	if err := os.MkdirAll(filepath.Join(d.clone, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	dockerLogs(t)
	s := must(Open(context.Background(), o))
	if !strings.Contains(s.Line, "podman of ") {
		t.Error(s.Line)
	}
	defer s.Close()
	var out bytes.Buffer
	r, err := proc.Run(context.Background(), proc.Spec{
		Argv: []string{"sh", "-c", "cat; exit 5"}, Dir: d.clone, Env: d.parent, Box: s.Box(Works),
		Stdin: strings.NewReader("hello"), Stdout: &out, Timeout: time.Minute,
	})
	if err != nil || r.Exit != 5 || out.String() != "hello" {
		t.Fatalf("%+v %v %q", r, err, out.String())
	}
	text, _ := os.ReadFile(d.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 4 { // the try, its removal, the run, its removal
		t.Fatalf("%s", text)
	}
	got := regexp.MustCompile(`ralph-box-[0-9a-f]{8}-\d+`).ReplaceAllString(lines[2], "NAME")
	got = strings.NewReplacer(s.scratch, "SCRATCH", d.dir, "HERE").Replace(got)
	got = regexp.MustCompile(`SCRATCH/gate\d+`).ReplaceAllString(got, "GATE")
	got = regexp.MustCompile(`\[--env\] \[[^\]]*\] `).ReplaceAllString(got, "")
	want := "[run] [--rm] [--interactive] [--init] [--name] [NAME] [--network] [none] [--cap-drop] [ALL] " +
		"[--security-opt] [no-new-privileges] " +
		"[--pids-limit] [4096] [--user] [" + user(nil) +
		"] [--tmpfs] [/tmp:rw,exec,mode=1777] [--workdir] [HERE/my project] " +
		"[--mount] [type=bind,source=SCRATCH/agent/home,target=HERE/home] [--mount] " +
		"[type=bind,source=SCRATCH/agent/cache,target=HERE/home/.cache] " +
		"[--mount] [type=bind,source=HERE/home/login,target=HERE/home/login] " +
		"[--mount] [type=bind,source=HERE/my project,target=HERE/my project] [--mount] [type=bind,source=HERE/my " +
		"project/.git,target=HERE/my project/.git] " +
		"[--mount] [type=bind,source=HERE/my project/.git/hooks,target=HERE/my project/.git/hooks,readonly] " +
		"[--mount] [type=bind,source=/bin/true,target=/run/ralph/ralph,readonly] [--mount] " +
		"[type=bind,source=GATE,target=/run/ralph/egress] " +
		`[--entrypoint] [/run/ralph/ralph] [example/image:1] [__box] [{"socket":"/run/ralph/egress/sock","sockets":{"own":true}}] [sh] [sh] [-c] [cat; exit 5] `
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(string(text), "very secret") || !strings.Contains(lines[2], "[--env] [MY_KEY] ") ||
		strings.Contains(lines[2], "[PATH") {
		t.Errorf("the environment is not passed as it should be:\n%s", lines[2])
	}
	if !regexp.MustCompile(`^\[rm\] \[--force\] \[ralph-box-[0-9a-f]{8}-\d+\] ?$`).MatchString(lines[3]) {
		t.Errorf("%q", lines[3])
	}
}

// TestContainerMountsOnce: an engine refuses two mounts at one place, where bubblewrap takes the last.
func TestContainerMountsOnce(t *testing.T) {
	got, err := mounted([]string{"--ro-bind", "/a", "/to", "--bind", "/b", "/b", "--ro-bind", "/c", "/to"})
	if want := "--mount type=bind,source=/b,target=/b --mount type=bind,source=/c,target=/to,readonly"; err != nil ||
		strings.Join(got, " ") != want {
		t.Errorf("%s, %v", got, err)
	}
}

// dockerLogs lets the stand-in know where to log.
func dockerLogs(t *testing.T) {
	t.Helper()
	ofClient = append(ofClient, "DOCKER_LOG", "NOIMAGE")
	t.Cleanup(func() { ofClient = ofClient[:len(ofClient)-2] })
}

// TestContainerIsNotThere: what is missing is said, with what to do.
func TestContainerIsNotThere(t *testing.T) {
	for want, change := range map[string]func(o *Options){
		"RALPH_SANDBOX_IMAGE names no image":                                        func(o *Options) { o.Image = "" },
		"neither docker nor podman is installed":                                    func(o *Options) { o.Parent = []string{"PATH=/nowhere"} },
		"Docker daemon; podman: it is here and does not work: Unable to find image": func(o *Options) { o.Parent = append(o.Parent, "NOIMAGE=1") },
		"its name has a comma":                                                      func(o *Options) { o.Writable = []string{o.Dir + "/a,b"} },
	} {
		d, o := containerDesk(t)
		dockerLogs(t)
		if err := os.Mkdir(filepath.Join(d.clone, "a,b"), 0o755); err != nil {
			t.Fatal(err)
		}
		change(&o)
		_, err := Open(context.Background(), o)
		var missing *UnavailableError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "RALPH_SANDBOX_IMAGE") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
