package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKeyKeptFromAgents: a key of the App lies where a sandbox hides it, also when a link leads there.
func TestKeyKeptFromAgents(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	key, open, link := filepath.Join(home, "key"), filepath.Join(other, "key"), filepath.Join(home, "link")
	for _, name := range []string{key, open} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, home string
		root, ok   bool
	}{
		{key, home, false, true}, {open, home, false, false}, {link, home, false, false}, {key, "", false, false},
		{open, home, true, true}, {key + ".none", home, false, false},
	} {
		if err := keyKeptFromAgents(c.file, c.home, c.root); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestKeptFromAgents: keys lie where a sandbox hides them, unless another user works.
func TestKeptFromAgents(t *testing.T) {
	for _, c := range []struct {
		data, home string
		root, ok   bool
	}{
		{"/var/lib/ralph", "/root", true, true},
		{"/var/lib/ralph", "/var/lib/ralph", false, true},
		{"/home/r/.local/state/ralph/serve", "/home/r", false, true},
		{"/var/lib/ralph", "/home/r", false, false},
		{"/home/rr", "/home/r", false, false},
		{"/home/r", "", false, false},
	} {
		if err := keptFromAgents(c.data, c.home, c.root); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestServerSignals: the first signal begins to drain for as long as the server lets it, the second ends that, and
// nothing is said beside the log.
func TestServerSignals(t *testing.T) {
	var said strings.Builder
	i := newInterruption(&said, surroundings{attended: func() bool { return false }})
	i.exit = func(int) { t.Error("it left") }
	soft, hard := i.context(), i.drainContext()
	signals := make(chan os.Signal)
	over := make(chan struct{})
	go func() { defer close(over); i.follow(signals) }()
	signals <- syscall.SIGTERM
	<-soft.Done()
	if hard.Err() != nil {
		t.Error("the first signal ends what runs")
	}
	signals <- syscall.SIGTERM
	<-hard.Done()
	close(signals)
	<-over
	if i.notices.flush(); said.Len() > 0 {
		t.Errorf("it says %q", said.String())
	}
}
