package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	if err := keptFromAgents("--data", "/home/rr", false, "/home/r"); err == nil {
		t.Error("what only begins like the home is below it")
	}
}

// TestServeRefuses: what no server could keep to is refused, with what is allowed, before anything is made.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, c := range []struct{ args, says string }{
		{"start --listen 127.0.0.1", `invalid --listen "127.0.0.1": must be an address with a port`},
		{"start --listen :8080", "add --url"},
		{"start --listen " + busy.Addr().String(), "name another address with --listen"},
		{"start --slots=-3", `invalid --slots "-3": must be 0 or more`},
		{"start --drain=-1s", `invalid --drain "-1s": must be a duration`},
		{"start --keep=audit=0", "invalid --keep audit=0"},
		{"start --keep=prompts=9", "must be days from 1 on of deliveries, records, runs, audit"},
		{"rotate-key", "name the directory that ralph serve --data has"},
		{"start --trigger-label=", `invalid --trigger-label ""`},
		{"start --trigger-phrase=", `--trigger-phrase "": must be one word`},
		{"start --url https://ralph.example.com/below", "must be an address without a path"},
		{"start --allow none.json", "reading what accounts are allowed"},
		{"backup -", "name the directory that ralph serve --data has"},
		{"restore none.db", "none.db: no such file"},
	} {
		home := t.TempDir()
		command := exec.Command("ralph", append([]string{"serve"}, strings.Fields(c.args)...)...)
		command.Env, command.Dir = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, home
		said, err := command.CombinedOutput()
		if command.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), c.says) {
			t.Errorf("%s: %v: %s", c.args, err, said)
		}
		if _, err := os.Stat(filepath.Join(home, ".local", "state", "ralph", "serve", "ralph.db")); err == nil {
			t.Errorf("%s has made a database", c.args)
		}
	}
}
