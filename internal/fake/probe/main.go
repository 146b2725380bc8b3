//go:build linux

// Command probe is a hostile program. An agent, a reviewer, a check, a setup or a child of one of them runs it in a
// sandbox. It tries everything in its table and writes what it has reached. The tests beside it run it through the real
// ralph, in every configuration that the machine allows.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The rows of the table in docs/security.md, in its order.
const (
	ownKey     = "a key in its own environment or arguments"
	othersKey  = "a key in the environment, arguments or open files of another process"
	memoryKey  = "a key in the memory of ralph"
	filesKey   = "a key in a file of ralph's or of the clone, or in a core dump"
	kernelKey  = "keys in the kernel, shared memory"
	homeKeys   = "keys and logins in a home"
	bearerKey  = "the model, without the bearer of a turn"
	runnerFile = "read the runner's directories: event, tokens, command files"
	runnerSet  = "write the runner's directories"
	outside    = "write outside of the worktree"
	othersHome = "the home of another, or the tree of the checks"
	leftover   = "what an agent has left: a process, a file, a server"
	gitDecides = "write `.git/hooks`, `.git/config` and the like"
	ralphs     = "write ralph's settings, journals, locks or program"
	readTree   = "a reviewer that writes"
	signals    = "signals, priorities and limits of another process"
	tracing    = "trace another process, read its memory, its files or its environment"
	seeing     = "see which processes there are"
	terminal   = "type on ralph's terminal"
	system     = "devices, mounts, modules, settings of the kernel"
	privilege  = "more rights: setuid programs, capabilities, namespaces"
	tcp        = "a host or a port that is not allowed, by TCP"
	proxied    = "a host that is not allowed, by the proxy"
	datagrams  = "UDP, raw and other kinds of sockets"
	unixSocket = "unix sockets of this machine"
	works      = "what it is to reach"
)

// inShared is the name of a probe that depends on who can write in /dev/shm.
const inShared = "a file in shared memory"

// probes are all that is tried.
var probes = slices.Concat(secretProbes, fileProbes, processProbes, systemProbes, networkProbes)

// obeyed is what tells a runner to take programs from somewhere else.
const obeyed = "::add-path::/probe-was-obeyed"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "victim" {
		victim()
		return
	}
	program, _ := os.Executable()
	program = filepath.Join(filepath.Dir(program), "probe") // also of the one that is called claude
	text, err := os.ReadFile(program + ".json")
	if err != nil {
		fail(err)
	}
	a := attempt{program: program}
	if err := json.Unmarshal(text, &a.targets); err != nil {
		fail(err)
	}
	switch {
	case filepath.Base(os.Args[0]) == "claude":
		a.claude()
	case len(os.Args) > 2 && os.Args[1] == "linger":
		linger(os.Args[2])
	case len(os.Args) > 2 && os.Args[1] == "trace":
		trace(os.Args[2])
	case len(os.Args) > 1:
		a.role, a.child = os.Args[1], len(os.Args) > 2
		a.attack()
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "probe:", err)
	os.Exit(1)
}

func run(program string, args ...string) { _ = exec.Command(program, args...).Run() }

// claude is an agent: it attacks, has a hook attack, and does its work or approves.
func (a *attempt) claude() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("2.1.329 (Claude Code)")
		return
	}
	prompt, _ := io.ReadAll(os.Stdin)
	a.role = "agent"
	if strings.Contains(string(prompt), "# Review") {
		a.role = "reviewer"
	} else {
		a.noteBearer()
	}
	a.attack()
	answer := map[string]any{"type": "result", "subtype": "success", "is_error": false,
		"result": "<response>DONE</response>", "usage": map[string]int{"input_tokens": 1, "output_tokens": 1}}
	if a.role == "reviewer" {
		_, tree, _ := strings.Cut(string(prompt), " to the tree ")
		tree, _, _ = strings.Cut(tree, ":")
		answer["result"], answer["structured_output"] = "", map[string]any{"verdict": "approve", "tree": tree,
			"summary": "fine", "issues": []any{}}
	} else {
		run(a.program, "hook") // as an agent starts its hooks
		if err := os.WriteFile("hello.txt", []byte("hello\n"), 0o644); err != nil {
			fail(err)
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(answer)
}

// noteBearer gets the agent's bearer by the helper that its settings name, and notes it for those that come next.
func (a *attempt) noteBearer() {
	var settings struct {
		Helper string `json:"apiKeyHelper"`
	}
	at := slices.Index(os.Args, "--settings") + 1
	if at == 0 || json.Unmarshal([]byte(os.Args[at]), &settings) != nil {
		return
	}
	bearer, _ := exec.Command("sh", "-c", settings.Helper).Output()
	text := os.Getenv("ANTHROPIC_BASE_URL") + " " + strings.TrimSpace(string(bearer))
	if err := os.WriteFile(filepath.Join(a.Reports, "bearer"), []byte(text), 0o666); err != nil {
		fail(err)
	}
}

// attack tries everything, lets an orphan in a session of its own do the same, and leaves something behind.
func (a *attempt) attack() {
	fmt.Fprintln(os.Stderr, obeyed) // a runner would take it for an order
	r := report{Role: a.role, Child: a.child, UID: os.Getuid(), Reached: map[string]string{}}
	for _, p := range probes {
		if !a.tries(p) {
			continue
		}
		r.Tried = append(r.Tried, p.String())
		if seen := within(func() string { return p.try(a) }); seen != "" {
			r.Reached[p.String()] = seen
		}
	}
	text, _ := json.MarshalIndent(r, "", "  ")
	name := filepath.Join(a.Reports, fmt.Sprintf("%s-%v-%d.json", a.role, a.child, time.Now().UnixNano()))
	if err := os.WriteFile(name, text, 0o666); err != nil {
		fail(err)
	}
	if a.child {
		return
	}
	orphan(a.program, a.role)
	if a.role == "agent" {
		a.leave()
	}
}

// orphan runs the probe as a process that has left its session and its parent, and waits for it.
func orphan(program, role string) {
	c := exec.Command("sh", "-c", `"$0" "$1" child & exit`, program, role)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := c.StdoutPipe()
	if err != nil || c.Start() != nil {
		return
	}
	_, _ = io.Copy(io.Discard, out) // until the orphan has closed it
	_ = c.Wait()
}

// within returns what a probe has seen within 8 seconds.
func within(try func() string) string {
	seen := make(chan string, 1)
	go func() {
		defer func() { // a probe that panics has reached nothing
			if p := recover(); p != nil {
				fmt.Fprintln(os.Stderr, "probe:", p)
				seen <- ""
			}
		}()
		seen <- try()
	}()
	select {
	case s := <-seen:
		return s
	case <-time.After(8 * time.Second):
		return ""
	}
}

// mark is the name of the file that an agent leaves.
const mark = "probe-left"

// leave leaves files, a process and a server for those that come next. It leaves none in worktrees: what is there is the
// work.
func (a *attempt) leave() {
	anywhere(func(a *attempt, dir string) string {
		_ = os.WriteFile(filepath.Join(dir, mark), []byte(a.Base), 0o666)
		return ""
	}, "$own", "$tmp", "/tmp", "/var/tmp", "/dev/shm", "$caches", "$cache", "$cargo")(a)
	c := exec.Command("setsid", a.program, "linger", a.Base)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Env = []string{"PATH=" + os.Getenv("PATH")} // without any mark
	c.Dir = "/"
	if c.Start() == nil {
		time.Sleep(100 * time.Millisecond) // it is on its way
	}
}

// linger stays for longer than any test takes, and listens.
func linger(base string) {
	if l, err := net.Listen("unix", "@probe-linger-"+base); err == nil {
		defer l.Close()
	}
	time.Sleep(3 * time.Minute)
}

// lingering are the processes of a test that linger.
func lingering(base string) (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if line, err := os.ReadFile(dir + "/cmdline"); err == nil && bytes.Contains(line, []byte("linger\x00"+base)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// victim is a process of the same user, which keeps a secret in the kernel until its input ends.
func victim() {
	_, _ = unix.AddKey("user", "ralph-probe", []byte(os.Getenv("PROBE_KEYRING")), unix.KEY_SPEC_USER_KEYRING)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
