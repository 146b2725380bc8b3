//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// targets are what the probe knows of the machine that it attacks. Every secret is there, in another form.
type targets struct {
	Base    string // the directory that everything of the test is in
	Home    string // of whom ralph belongs to
	Temp    string // ralph's directory for temporary files
	Reports string // where everyone may write down what they have reached
	Tree    string // the clone that a person has; empty in a job
	Runner  runnerDirs
	Victim  int    // a process of the same user, with a secret in its environment
	Setuid  string // a program that is root's; empty: no one could make one
	servers
	Secrets map[string][]byte // what they are, veiled
	// Inodes are those of the test's files and directories: where they differ, a box has something in their place.
	Inodes map[string]uint64
	Device uint64 // that those are on
}

// runnerDirs are the places of a runner; all are empty outside of a job.
type runnerDirs struct{ Top, Workspace, Temp, Event, Commands, Home, Siblings string }

// attempt is one run of the probe.
type attempt struct {
	targets
	program string
	role    string
	child   bool // of the one that ralph, or an agent, has started
}

// servers are what listens on this machine, and what is in its memory.
type servers struct {
	TCP, UDP string // at ports that no one is given
	Late     string // at a port that the system assigned
	Sockets  []string
	Abstract string
	Memory   int // a segment of shared memory, by number
}

// report is what an attempt has come to.
type report struct {
	Role    string
	Child   bool
	UID     int
	Tried   []string
	Reached map[string]string // with what was seen of it
}

// probe is one thing to try.
type probe struct {
	group string // a row of the table in docs/security.md
	name  string
	kind  kind
	try   func(a *attempt) string // what was seen; empty: it was not reached
}

func (p probe) String() string { return p.group + ": " + p.name }

// kind says who tries something, and what it means when it is reached.
type kind int

const (
	forbidden  kind = iota // by everyone; to reach it is a finding
	inJob                  // the same, where there is a runner
	inClone                // the same, where there is a person's clone
	ofOthers               // the same, by those who come after the agent
	byAgent                // the agent alone
	byReviewer             // only the reviewer
)

func (p probe) asks(a *attempt) bool {
	switch p.kind {
	case inJob:
		return a.Runner.Top != ""
	case inClone:
		return a.Tree != ""
	case ofOthers:
		return a.role == "check" || a.role == "reviewer"
	case byAgent:
		return a.role == "agent"
	case byReviewer:
		return a.role == "reviewer"
	}
	return true
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "probe:", err)
	os.Exit(1)
}

func run(program string, args ...string) {
	_ = exec.Command(program, args...).Run()
}

// opens is the first of some files that can be opened.
func opens(how int, paths ...string) string {
	for _, path := range paths {
		if f, err := os.OpenFile(path, how|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0); err == nil {
			f.Close()
			return path
		}
	}
	return ""
}
