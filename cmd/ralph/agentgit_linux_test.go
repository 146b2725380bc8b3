package main

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/agentgit"
)

// TestWhateverAnAgentDoesWithGit, its work is in the run's commit or somebody is told where it lies: on a laptop and as
// a bot, in each sandbox. TestWhateverTheAgentDoesWithGit in internal/git has all that agents do; here make test has one
// thing of a laptop, and one of a bot.
func TestWhateverAnAgentDoesWithGit(t *testing.T) {
	t.Parallel()
	doors := []string{"laptop", "bot"}
	sample := map[string]string{"laptop": "a new branch, and stays", "bot": "stashed"}
	sandboxes := []string{"off", "bwrap", "landlock"}
	cases := maps.Clone(agentgit.Cases)
	for name, do := range map[string]string{ // which loses nothing: the run's repository is not the agent's to remove
		"the repository removed":                `rm -rf .git`,
		"the repository made anew":              `rm -rf .git; git init -q -b main; git add -A; git commit -qm mine`,
		"the repository a link to another":      `d=$(mktemp -d); git init -q "$d/x"; rm -rf .git; ln -s "$d/x/.git" .git`,
		"the repository a file that leads away": `rm -rf .git; echo gitdir: /nowhere >.git`,
	} {
		cases[name] = agentgit.Case{Do: `echo work >>a.txt; echo n >new; ` + do, Want: map[string]string{"a.txt": "1\nwork\n", "new": "n\n"}}
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		for _, door := range doors {
			for _, sandbox := range sandboxes {
				if !every && (name != sample[door] || sandbox != "off") {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, door, sandbox), func(t *testing.T) {
					t.Parallel()
					d := newDoor(t, door, sandbox)
					d.agent(c.Do)
					code := 0
					if name == "a rebase, half-way" { // the marks of a conflict are no finished work
						code = 1
					}
					d.said(d.run(code), c.Note)
					tip := d.git("rev-parse", "refs/heads/"+d.branch+"^{commit}")
					for file, want := range c.Want {
						content, err := d.tryGit("show", tip+":"+d.named(file))
						if err != nil && want != "" || err == nil && content != want {
							t.Errorf("%s is %q (%v), want %q", file, content, err, want)
						}
					}
					if c.Has != "" && !strings.Contains(d.git("log", "--format=%s", tip), c.Has+"\n") {
						t.Errorf("the history does not have %q", c.Has)
					}
					_, known := agentgit.Cases[name] // of a repository made anew, a commit is kept where a sandbox let it be made
					if refs := d.git("for-each-ref", "--format=%(refname)"); known && strings.Contains(refs, "kept/") != c.Kept {
						t.Errorf("kept is %v:\n%s", !c.Kept, refs)
					}
					if out := d.git("fsck", "--connectivity-only", "--no-dangling", tip); out != "" {
						t.Errorf("git fsck says: %s", out)
					}
				})
			}
		}
	}
}

// door is ralph in front of a repository, with an agent that is a script.
type door struct {
	*work
	bot    bool
	branch string // of the run
	repo   string // where that branch is in the end
	clone  string // of a laptop
}

// seeded is what the repository begins with.
var seeded = map[string]string{"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "b\n",
	".ralph/settings.json": `{"guardrails": [{"command": "true"}], "baseline": "off"}`}

func newDoor(t *testing.T, name, sandbox string) *door {
	t.Helper()
	d := &door{work: begin(t), bot: name == "bot", branch: "ralph/issue-1"}
	if d.bot {
		d.args = []string{"action"}
		d.inJob()
		if _, err := d.hub.CommitFiles("alice", "demo", "main", "seed", seeded); err != nil {
			t.Fatal(err)
		}
		d.repo = d.hub.GitDir("alice", "demo")
		d.env = append(d.env, "RALPH_SANDBOX=", "INPUT_SANDBOX="+sandbox)
		return d
	}
	d.args = []string{"run", "--issue", filepath.Join(d.dir, "issue-1.md"), "--agent", filepath.Join(d.dir, "agent"),
		"--skip-review", "-m", "2"}
	d.in(sandbox)
	d.write("issue-1.md", "# Make it work\n\nIt does not.\n")
	for file, content := range seeded {
		d.write("clone/"+file, content)
	}
	d.clone = filepath.Join(d.dir, "clone")
	d.repo = d.clone
	d.sh("cd clone && git init -q -b main && git add . && git commit -qm seed && echo '*.tmp' >>.git/info/exclude")
	return d
}

// agent makes the script: its first turn changes something, its second does what is asked and claims to be done.
func (d *door) agent(do string) {
	d.Helper()
	d.write("agent", "#!/bin/sh\n[ \"$1\" != --version ] || exit 0\ncat >/dev/null\nexec 2>&1\n"+
		"export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c\n"+
		"if [ ! -e before ]; then\n"+agentgit.Before+"\necho begun\nexit 0\nfi\n"+d.named(do)+
		"\necho '<response>DONE</response>'\n")
}

// named has the run's issue where a case names its own.
func (d *door) named(text string) string {
	return strings.NewReplacer("issue-42", "issue-1").Replace(text)
}

// run runs ralph to its end, and returns what people are told.
func (d *door) run(code int) string {
	d.Helper()
	command := exec.Command("ralph", d.args...)
	command.Dir, command.Env = d.dir, d.env
	if !d.bot {
		command.Dir = d.clone
	}
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.Fatal(err)
	}
	if got := command.ProcessState.ExitCode(); got != code {
		d.Fatalf("exit code %d, want %d; it said:\n%s", got, code, out)
	}
	return string(out)
}

// said holds what people are told against what they have to know.
func (d *door) said(told, note string) {
	d.Helper()
	if note = d.named(note); !strings.Contains(told, note) {
		d.Errorf("nobody is told %q:\n%s", note, told)
	}
}

func (d *door) tryGit(args ...string) (string, error) {
	command := exec.Command("git", append([]string{"-C", d.repo}, args...)...)
	command.Env = append(slices.Clone(d.env), "GIT_NO_REPLACE_OBJECTS=1", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	out, err := command.Output()
	if slices.Contains([]string{"rev-parse", "for-each-ref"}, args[0]) {
		return strings.TrimSpace(string(out)), err
	}
	return string(out), err
}

func (d *door) git(args ...string) string {
	d.Helper()
	out, err := d.tryGit(args...)
	if err != nil {
		d.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// TestSubmoduleOfTheAgents: a submodule that the agent adds is told where its commits cannot be had, and its files are
// not lost.
func TestSubmoduleOfTheAgents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"laptop", "bot"} {
		if !every && name != "bot" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, name, "off")
			d.agent(
				`git init -q lib; echo l >lib/f; git -C lib add f; git -C lib commit -qm l; git -c protocol.file.allow=always submodule --quiet add ./lib lib; git commit -qam sub`)
			said := d.run(1) // nobody else can clone it
			d.said(said, "the submodule lib is new in this run, so the checks do not have what is in it")
			link, _, _ := strings.Cut(strings.TrimPrefix(d.git("ls-tree", d.branch, "--", "lib"), "160000 commit "), "\t")
			d.said(said, fmt.Sprintf("the commit %.12s of the submodule lib is kept as refs/ralph/kept/issue-1/%.12s", link,
				link))
			if got := d.git("show", link+":f"); got != "l\n" {
				t.Errorf("of the submodule, f is %q", got)
			}
		})
	}
}
