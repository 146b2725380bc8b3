//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// targets are what the probe knows of the machine that it attacks. Every secret is there, in another form.
type targets struct {
	Base    string // the directory that everything of the test is in
	Home    string // of ralph's user
	Temp    string // ralph's directory for temporary files
	Reports string // where every process can write what it has reached
	Tree    string // a person's clone; empty in a job
	Runner  runnerDirs
	Victim  int    // a process of the same user, with a secret in its environment
	Setuid  string // a program of root's; empty if the test cannot make one
	servers
	Secrets map[string][]byte // by name, veiled
	// Inodes are those of the test's files and directories: if they differ, a sandbox has put something in their place.
	Inodes map[string]uint64
	Device uint64 // of the inodes
}

// runnerDirs are the directories of a runner; all are empty outside of a job.
type runnerDirs struct{ Top, Workspace, Temp, Event, Commands, Home, Siblings string }

// servers are what listens on this machine, and what is in its memory.
type servers struct {
	TCP, UDP string // at ports that the system does not assign
	Late     string // at a port that the system assigned
	Socket   string // a unix socket with a file
	Abstract string // one without
	Memory   int    // a segment of shared memory, by number
}

// attempt is one run of the probe.
type attempt struct {
	targets
	program string
	role    string
	child   bool // started by a probe
}

// report is what an attempt has reached.
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
	by    kind
	try   try
}

// try returns what was seen, or an empty string if nothing was reached.
type try = func(a *attempt) string

func (p probe) String() string { return p.group + ": " + p.name }

// kind says which roles try something.
type kind string

const (
	everyone kind = "setup agent hook check reviewer"
	after    kind = "check reviewer" // those that come after the agent
	agent    kind = "agent"
	reviewer kind = "reviewer"
)

func (a *attempt) tries(p probe) bool { return slices.Contains(strings.Fields(string(p.by)), a.role) }

// place returns the files or directories that a name in a path stands for. None is there outside of a job, or of a clone.
func (a *attempt) place(name string) []string {
	here, _ := os.Getwd()
	switch name {
	case "ralph":
		return a.ralph()
	case "others": // processes outside of this sandbox
		return append(a.ralph(), a.process())
	case "all":
		return processes()
	case "run": // the processes of this test
		return slices.DeleteFunc(processes(), func(dir string) bool { return !a.ofRun(dir) })
	case "git": // the clone of a person, or the one that an agent works in
		switch {
		case a.Tree != "" && a.isReal(a.Tree+"/.git"):
			return []string{a.Tree + "/.git"}
		case a.Tree != "" || a.role == "check" || a.role == "setup": // checks and setup have a tree of their own
			return nil
		}
		return []string{here + "/.git"}
	}
	return []string{map[string]string{
		"here": here, "own": os.Getenv("HOME"), "tmp": os.TempDir(), "cache": os.Getenv("GOCACHE"),
		"caches": filepath.Dir(os.Getenv("GOCACHE")), "cargo": os.Getenv("CARGO_HOME"), "base": a.Base, "home": a.Home,
		"temp": a.Temp, "tree": a.Tree, "victim": a.process(), "top": a.Runner.Top, "workspace": a.Runner.Workspace,
		"siblings": a.Runner.Siblings, "steps": a.Runner.Temp, "event": a.Runner.Event, "commands": a.Runner.Commands,
		"given": a.Runner.Home,
	}[name]}
}

// at lists the files that a pattern matches, in which $NAME stands for the places of a name.
func (a *attempt) at(pattern string) (all []string) {
	before, rest, named := strings.Cut(pattern, "$")
	if !named {
		all, _ = filepath.Glob(pattern)
		return all
	}
	after := strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz")
	for _, place := range a.place(strings.TrimSuffix(rest, after)) {
		if place != "" && place != "." {
			all = append(all, a.at(before+place+after)...)
		}
	}
	return all
}

// anywhere tries each of some files, until something is seen.
func anywhere(do func(a *attempt, path string) string, patterns ...string) try {
	return func(a *attempt) string {
		for _, pattern := range patterns {
			for _, path := range a.at(pattern) {
				if seen := do(a, path); seen != "" {
					return seen
				}
			}
		}
		return ""
	}
}

// finds looks for secrets, separated by commas, in files and in those below directories.
func finds(which string, patterns ...string) try {
	return anywhere(func(a *attempt, path string) string { return a.below(path, strings.Split(which, ",")...) }, patterns...)
}

// reads reads a file that is not empty, or lists such a directory.
func reads(patterns ...string) try { return anywhere(read, patterns...) }

func read(_ *attempt, path string) string {
	text, err := os.ReadFile(path)
	entries, noDir := os.ReadDir(path)
	if err == nil && len(text) > 0 || noDir == nil && len(entries) > 0 {
		return "read " + path
	}
	return ""
}

// opens opens a file.
func opens(how int, patterns ...string) try {
	return anywhere(func(_ *attempt, path string) string { return open(how, path) }, patterns...)
}

func open(how int, path string) string {
	f, err := os.OpenFile(path, how|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return ""
	}
	f.Close()
	return path
}

// appends opens a file for writing, which stays as it is.
func appends(patterns ...string) try { return anywhere((*attempt).openToAppend, patterns...) }

func (a *attempt) openToAppend(path string) string {
	if !a.isReal(path) {
		return ""
	}
	return open(os.O_WRONLY|os.O_APPEND, path)
}

// makes makes a file in a directory, and removes it.
func makes(patterns ...string) try { return anywhere((*attempt).makeFile, patterns...) }

func (a *attempt) makeFile(dir string) string {
	if !a.isReal(dir) {
		return ""
	}
	return makeIn(dir)
}

func makeIn(dir string) string {
	path := filepath.Join(dir, fmt.Sprintf("probe-made-%d", os.Getpid()))
	if open(os.O_WRONLY|os.O_CREATE|os.O_EXCL, path) == "" {
		return ""
	}
	os.Remove(path)
	return "made in " + dir
}

// linked tries a file, or what rest names below it, by a link in a directory of the probe's own.
func linked(link func(to, at string) error, dir, target, rest string, do func(a *attempt, path string) string) try {
	return func(a *attempt) string {
		for _, in := range a.at(dir) {
			for _, to := range a.at(target) {
				at := filepath.Join(in, "probe-link")
				defer os.Remove(at)
				if link(to, at) == nil {
					return do(a, at+rest)
				}
			}
		}
		return ""
	}
}

// calls makes a system call.
func calls(call func() error) try {
	return func(*attempt) string { return done(call()) }
}

func done(err error) string {
	if err != nil {
		return ""
	}
	return "done"
}

// opened closes what a call has opened.
func opened(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// onRalph tries something with the numbers of ralph's processes.
func onRalph(do func(pid int) error) try {
	return anywhere(func(_ *attempt, dir string) string {
		if do(number(dir)) != nil {
			return ""
		}
		return dir
	}, "$ralph")
}

// onVictim tries something with a process of the same user, if its number is that process here.
func onVictim(do func(pid int) error) try {
	return func(a *attempt) string {
		if !a.ofRun(a.process()) || do(a.Victim) != nil {
			return ""
		}
		return a.process()
	}
}

// isReal reports whether a path leads to what the test has put there, and not to what a sandbox has put in its place. What
// the test did not put there is as real as what it lies in, or a mount of its own, which is taken as real.
func (a *attempt) isReal(path string) bool {
	var stat unix.Stat_t
	path = filepath.Clean(path)
	ofRunner := a.Runner.Top != "" && strings.HasPrefix(path, a.Runner.Top)
	if a.Base == "" || !strings.HasPrefix(path, a.Base) && !ofRunner {
		return true
	}
	if unix.Stat(path, &stat) != nil || stat.Dev != a.Device {
		return false
	}
	inode, known := a.Inodes[path]
	if !known {
		return mountOf(path) != mountOf(filepath.Dir(path)) || a.isReal(filepath.Dir(path))
	}
	return stat.Ino == inode
}

// mountOf is the number of the mount that a path is on; 0 if that cannot be known.
func mountOf(path string) uint64 {
	var stat unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_MNT_ID, &stat) != nil {
		return 0
	}
	return stat.Mnt_id
}

// processes are the directories of all processes that can be seen, except the probes.
func processes() (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		name, _ := os.ReadFile(dir + "/comm")
		if n := strings.TrimSpace(string(name)); n != "probe" && n != "claude" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// ofRun reports whether a process is one of this test's: its arguments or its program lie below the base.
func (a *attempt) ofRun(dir string) bool {
	line, _ := os.ReadFile(dir + "/cmdline")
	return bytes.Contains(line, []byte(a.Base))
}

// ralph are the processes of the ralph that has started this one.
func (a *attempt) ralph() (dirs []string) {
	for _, dir := range processes() {
		line, _ := os.ReadFile(dir + "/cmdline")
		if bytes.HasPrefix(line, []byte(a.Base+"/bin/ralph\x00")) && !bytes.Contains(line, []byte("\x00__box\x00")) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// process is the directory of the victim.
func (a *attempt) process() string { return fmt.Sprintf("/proc/%d", a.Victim) }
