package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/need"
)

// attacker is what an agent, a setup and a check try: to read whatever the server has, and what its processes know.
const attacker = `while read -r path; do head -c 1 "$path" >/dev/null 2>&1 && echo "REA""CHED $1 $path"; done <paths.txt
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -q made-up-secret && echo "REA""CHED $1 environ"
true
`

// TestServeHoldsJobs: agent, setup and check of a job, with what settings a repository can write, reach no file of the
// data directory, no mirror of another repository and no key. With a sandbox that the operator let be switched off they
// do, as the server's own user.
func TestServeHoldsJobs(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	for sandbox, allow := range map[string]string{"auto": "", "off": `, "sandbox": "off"`} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			s := newServing(t)
			s.environ = append(s.environ, fmt.Sprintf(`RALPH_ALLOW=%s`,
				s.allow(`{"*": {"agents": ["`+filepath.Join(s.dir, "agent")+`"]`+allow+`}}`)))
			if os.Geteuid() == 0 { // as root, agents are another user anyway
				s.as = &syscall.Credential{Uid: 12345, Gid: 12345}
				s.ralph = s.copyOfRalph()
			}
			own := func(name string) {
				if err := os.Lchown(name, 12345, 12345); s.as != nil && err != nil {
					t.Fatal(err)
				}
			}
			s.write("agent", "#!/bin/sh\ncat >/dev/null; sh attack.sh agent; echo x > new.txt\necho '<response>DONE</response>'\n", 0o755)
			for _, name := range []string{"", "agent", "wait", "allow.json"} {
				own(filepath.Join(s.dir, name))
			}
			if err := s.hub.AddRepo("alice", "other", "main"); err != nil {
				t.Fatal(err)
			}
			commit := func(repository string, files map[string]string) {
				files["attack.sh"], files[".gitignore"] = attacker, "setup.txt\n"
				files["Makefile"] = "test:\n\tcat setup.txt; sh attack.sh check; test -e new.txt\n"
				files[".ralph/settings.json"] = `{"agent": {"command": "` + filepath.Join(s.dir, "agent") + `"}, "sandbox": "` +
					sandbox + `", "guardrails": [{"command": "make test"}], "review": false, "setup": "sh attack.sh setup >setup.txt",
					"sandboxSockets": "all", "gateway": "off", "protected": []}`
				if _, err := s.hub.CommitFiles("alice", repository, "main", "attack", files); err != nil {
					t.Fatal(err)
				}
			}
			commit("other", map[string]string{"paths.txt": ""})
			s.start()
			other := s.hub.AddIssue("alice", "other", fake.Issue{Title: "Add new.txt", Body: "It is missing.", Author: "alice"})
			s.hub.Label("alice", "other", other, "ralph", "alice")
			s.until("the mirror of another repository", func() bool {
				for _, c := range s.hub.Comments("alice", "other", other) {
					if strings.Contains(c.Body, "ettings") {
						t.Fatal(c.Body)
					}
				}
				return s.ready("other") > 0
			})
			commit("demo", map[string]string{"paths.txt": s.everything()})
			s.label("Add new.txt")
			s.delivers()
			s.kill()
			for _, who := range []string{"agent", "setup", "check"} {
				if got := s.reached(who); (got != "") != (sandbox == "off") {
					t.Errorf("sandbox %s: the %s has reached %q", sandbox, who, got)
				}
			}
		})
	}
}

// copyOfRalph is the program where every user finds it.
func (s *serving) copyOfRalph() string {
	s.Helper()
	program, err := exec.LookPath("ralph")
	if err != nil {
		s.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		s.Fatal(err)
	}
	return s.write("bin/ralph", string(text), 0o755)
}

// everything are the paths of all files that the server has.
func (s *serving) everything() string {
	s.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(s.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			fmt.Fprintln(&all, path)
		}
		return err
	})
	if err != nil || !strings.Contains(all.String(), "ralph.key") || !strings.Contains(all.String(), "/mirrors/") {
		s.Fatal(all.String(), err)
	}
	return all.String()
}

// reached is the first thing that a part of a job says in the records of its run that it has reached.
func (s *serving) reached(who string) string {
	s.Helper()
	for _, name := range []string{"ralph.db", "ralph.db-wal"} {
		text, err := os.ReadFile(filepath.Join(s.dir, "data", name))
		if err != nil {
			s.Fatal(err)
		}
		if _, after, found := bytes.Cut(text, []byte("REACHED "+who+" ")); found {
			return string(after[:min(100, len(after))])
		}
	}
	return ""
}
