//go:build linux

// Command probe is a hostile program. An agent, a reviewer, a check, a setup or a child of one of them runs it in a
// box; it tries everything in its table and writes down what it has reached. The tests beside it run it by the real
// ralph, in every configuration that the machine allows.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// obeyed is what tells a runner to take programs from somewhere else.
const obeyed = "::add-path::/probe-was-obeyed"

// each bounds what one probe may take.
const each = 8 * time.Second

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
		a.claude(program)
	case len(os.Args) > 2 && os.Args[1] == "linger":
		linger(os.Args[2])
	case len(os.Args) > 2 && os.Args[1] == "trace":
		trace(os.Args[2])
	case len(os.Args) > 1:
		a.role, a.child = os.Args[1], len(os.Args) > 2
		a.attack(program)
	}
}

// claude is an agent: it attacks, has a hook attack, and does its work or approves.
func (a *attempt) claude(program string) {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("2.1.329 (Claude Code)")
		return
	}
	prompt, _ := io.ReadAll(os.Stdin)
	a.role = "agent"
	if strings.Contains(string(prompt), "# Review") {
		a.role = "reviewer"
	}
	a.attack(program)
	answer := map[string]any{"type": "result", "subtype": "success", "is_error": false,
		"result": "<response>DONE</response>", "usage": map[string]int{"input_tokens": 1, "output_tokens": 1}}
	if a.role == "reviewer" {
		_, tree, _ := strings.Cut(string(prompt), " to the tree ")
		tree, _, _ = strings.Cut(tree, ":")
		answer["result"], answer["structured_output"] = "", map[string]any{"verdict": "approve", "tree": tree,
			"summary": "fine", "issues": []any{}}
	} else {
		run(program, "hook") // as an agent starts its hooks
		if err := os.WriteFile("hello.txt", []byte("hello\n"), 0o644); err != nil {
			fail(err)
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(answer)
}

// attack tries everything, lets an orphan in a session of its own do the same, and leaves something behind.
func (a *attempt) attack(program string) {
	fmt.Fprintln(os.Stderr, obeyed) // a runner would take it for an order
	r := report{Role: a.role, Child: a.child, UID: os.Getuid(), Reached: map[string]string{}}
	for _, p := range probes {
		if !p.asks(a) {
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
	orphan(program, a.role)
	a.leave(program)
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

// within is what a probe has seen, or nothing when it takes too long.
func within(try func() string) string {
	seen := make(chan string, 1)
	go func() {
		defer func() { // a probe that breaks has reached nothing
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
	case <-time.After(each):
		return ""
	}
}
