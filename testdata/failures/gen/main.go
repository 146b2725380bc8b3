// Command gen makes the corpus of failures: it lays out each small project of projects/, breaks it in each of the ways that the
// project names, runs its command under varied conditions, and keeps what the command printed.
//
//	go run ./testdata/failures/gen [-projects DIR] [-out DIR] [-only TOOL[/PROJECT[/FAILURE]]]
//
// It writes under /home/dev, /srv/ci, /tmp/xyz, /builds, /var/lib/jenkins and /w, so it is meant for a container.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

func main() {
	projects := flag.String("projects", "testdata/failures/gen/projects", "where the projects are")
	out := flag.String("out", "testdata/failures", "where the recordings go")
	only := flag.String("only", "", "TOOL, TOOL/PROJECT or TOOL/PROJECT/FAILURE")
	flag.Parse()
	lock, err := lockDirectories()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	if err := generate(*projects, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	lock.Close()
}

// lockDirectories waits until no other run of gen uses the directories, which are the same for every run.
func lockDirectories() (*os.File, error) {
	if err := os.MkdirAll("/home/dev", 0o755); err != nil {
		return nil, err
	}
	lock, err := os.Create("/home/dev/failures.lock")
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	return lock, nil
}

// generate records every failure of every project that only names; it goes on after a failure that could not be recorded.
func generate(projects, out, only string) error {
	names, err := filepath.Glob(filepath.Join(projects, "*.txtar"))
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		p, err := readProject(name)
		if err != nil {
			return err
		}
		for _, failure := range p.failures {
			id := p.tool + "/" + p.name + "/" + failure
			if only != "" && id != only && !strings.HasPrefix(id, only+"/") {
				continue
			}
			if err := record(p, failure, filepath.Join(out, p.tool+".txtar")); err != nil {
				errs = append(errs, fmt.Errorf("recording %s: %w", id, err))
			}
		}
	}
	return errors.Join(errs...)
}

// record runs one failure under each of the conditions and puts what was printed, and the project's command, into the
// archive of its tool.
func record(p *project, failure, to string) error {
	dir := p.name + "/" + failure
	var said []txtar.File
	for n, c := range conditions {
		text, err := p.fail(failure, n, c)
		if err != nil {
			return fmt.Errorf("under condition %d: %w", n+1, err)
		}
		said = append(said, txtar.File{Name: fmt.Sprintf("%s/%d.txt", dir, n+1), Data: text})
	}
	command := txtar.File{Name: p.name + "/command", Data: []byte(p.with("") + "\n")}
	if err := errors.Join(archive.Put(to, command.Name, command), archive.Put(to, dir, said...)); err != nil {
		return err
	}
	fmt.Println(to, dir)
	return nil
}

// missingTool is what a shell prints instead of a failure.
var missingTool = regexp.MustCompile(`(?m)^(/bin/)?sh: .*(not found|No such file)|^(faketime|script): |INTERNALERROR|getcwd`)

// fail lays the project out, broken in one way, and returns what its command prints; a command that passes is an error.
func (p *project) fail(failure string, n int, c condition) ([]byte, error) {
	dir := c.dir
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := p.layOut(failure, dir, c.shift); err != nil {
		return nil, err
	}
	for _, v := range c.env {
		if tmp, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			if err := os.MkdirAll(tmp, 0o755); err != nil {
				return nil, err
			}
		}
	}
	if p.before != "" {
		before := exec.Command("sh", "-c", p.before)
		before.Dir, before.Env = dir, environ(c)
		if text, err := before.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("preparing: %w: %s", err, text)
		}
	}
	if c.warm {
		_, _ = p.once(n, c)
	}
	text, err := p.once(n, c)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil, fmt.Errorf("the command passed: %s", text)
	case !errors.As(err, &exit) || !exit.Exited():
		return nil, err
	case len(strings.TrimSpace(string(text))) == 0:
		return nil, errors.New("the command printed nothing")
	case missingTool.Match(text):
		return nil, fmt.Errorf("the tool is missing: %s", text)
	}
	return text, nil
}

// once runs the command, in a terminal if the condition says so.
func (p *project) once(n int, c condition) ([]byte, error) {
	line := p.with("")
	if len(p.vary) > 0 {
		line = p.with(p.vary[n%len(p.vary)])
	}
	if c.after != "" && !p.real {
		line = fmt.Sprintf("faketime -f %s sh -c %s", quote(c.after), quote(line))
	}
	args := []string{"timeout", "300", "sh", "-c", line}
	if c.terminal {
		inner := fmt.Sprintf("stty cols %d rows 40; %s", c.columns, line)
		args = []string{"timeout", "300", "script", "-qefc", inner, "/dev/null"}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = c.dir, environ(c)
	if c.terminal { // a standard input that never ends, or script would echo an end of file
		in, hold, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer in.Close()
		defer hold.Close()
		cmd.Stdin = in
	}
	return cmd.CombinedOutput()
}

// with is the command with these arguments in place of {}.
func (p *project) with(args string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Replace(p.run, "{}", args, 1), "  ", " "))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
