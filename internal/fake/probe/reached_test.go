//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// reachedFile has what is known to be reached: a line for each configuration and probe, with who reaches it. Its first
// line says where that was found out.
const reachedFile = "testdata/reached.txt"

// facts are, by configuration and by probe, who reaches it.
type facts map[string]map[string][]string

// must is a value that has to come without an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		noError(t, err)
		return v
	}
}

// noError ends a test that cannot be made up.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readFacts(t *testing.T) (known facts, where string) {
	t.Helper()
	text, err := os.ReadFile(reachedFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known = facts{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			where = strings.TrimSpace(line)
			continue
		}
		if known[fields[0]] == nil {
			known[fields[0]] = map[string][]string{}
		}
		known[fields[0]][fields[1]] = strings.Fields(fields[2])
	}
	return known, where
}

func (f facts) write(t *testing.T, where string) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, where)
	for _, c := range configurations {
		found := f[c.String()]
		for _, p := range probes {
			if roles := found[p.String()]; len(roles) > 0 {
				fmt.Fprintf(&b, "%s\t%s\t%s\n", c, p, strings.Join(roles, " "))
			}
		}
	}
	noError(t, os.MkdirAll("testdata", 0o755))
	noError(t, os.WriteFile(reachedFile, b.Bytes(), 0o644))
}

// here is this machine, as far as it matters to what can be reached.
func here() string {
	var name unix.Utsname
	_ = unix.Uname(&name)
	abi, _ := llsys.LandlockGetABIVersion()
	return fmt.Sprintf("Linux %s, Landlock %d", unix.ByteSliceToString(name.Release[:]), abi)
}

// reachedBy are the roles that have reached something, by probe; what has to be reached is none of it.
func reachedBy(all []report) map[string][]string {
	found := map[string][]string{}
	for _, r := range all {
		for _, p := range probes {
			if r.Reached[p.String()] != "" && p.group != works && !slices.Contains(found[p.String()], r.Role) {
				found[p.String()] = append(found[p.String()], r.Role)
			}
		}
	}
	for _, roles := range found {
		slices.Sort(roles)
	}
	return found
}

// scoped are what Landlock keeps a process from since its version 6 (Linux 6.12).
var scoped = []string{signals, unixSocket, tracing}

// admits reports whether a machine may show what was not found on the one where the facts are from: without a sandbox
// it depends on who the user is there and what is installed; an older Landlock keeps less.
func (c configuration) admits(known map[string][]string, p probe) bool {
	if c.sandbox == "off" {
		machine := []string{privilege, system, unixSocket, datagrams, tracing, signals, terminal, homeKeys,
			leftover}
		return slices.Contains(machine, p.group)
	}
	if c.sandbox == "landlock" && p.name == inShared { // not everywhere may a user write there
		return true
	}
	abi, _ := llsys.LandlockGetABIVersion()
	return c.sandbox == "landlock" && (abi < 6 && slices.Contains(scoped, p.group) ||
		abi < 4 && slices.Contains([]string{tcp, proxied, bearerKey}, p.group))
}

// hold holds what was reached against what is known.
func (c configuration) hold(t *testing.T, known facts, where string, all []report) {
	t.Helper()
	found := reachedBy(all)
	for _, p := range probes {
		was, is := known[c.String()][p.String()], found[p.String()]
		for _, role := range is {
			if !slices.Contains(was, role) && !c.admits(known[c.String()], p) {
				t.Errorf("%s reaches what docs/security.md does not admit: %s (%s)\nClose it. What cannot be closed is "+
					"admitted by go test -tags e2e ./internal/fake/probe -update, with its reason in reasons_test.go",
					role, p, seen(all, role, p))
			}
		}
		for _, role := range was {
			if !slices.Contains(is, role) && where == here() && os.Geteuid() == 0 {
				t.Errorf("%s does not reach any more: %s\nRun go test -tags e2e ./internal/fake/probe -update", role, p)
			}
		}
	}
}

func seen(all []report, role string, p probe) string {
	for _, r := range all {
		if s := r.Reached[p.String()]; s != "" && r.Role == role {
			return s
		}
	}
	return ""
}
