package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/proc"
)

// unheeding is work that goes on through every signal but SIGKILL, as agents and their tools can: a process that notes
// SIGINT and lets it be, one in a session of its own, and one that has left its session, its parent and its environment
// behind. DIR is in the command line of all of them.
const unheeding = `#!/bin/sh
trap 'touch interrupted' INT
trap '' TERM HUP QUIT
setsid sh -c 'trap "" INT TERM HUP QUIT; touch session; while :; do sleep 1; done' DIR &
env -i PATH="$PATH" setsid sh -c 'sh -c "trap \"\" INT TERM HUP QUIT; touch daemon; while :; do sleep 1; done" DIR &' DIR &
until [ -e session ] && [ -e daemon ]; do sleep 0.05; done
touch DIR/ready
echo working
while :; do sleep 1; done
`

// work is a ralph that was started, and what it works on.
type work struct {
	*testing.T
	dir  string
	home string // the checks' tree of a run in a clone lies there
	env  []string
	args []string

	hub      *fake.GitHub // of a job; nil: there is none
	command  *exec.Cmd
	out      io.Writer // nil: what is on stderr as well
	stderr   heard
	terminal *os.File // nil: there is none
	ended    chan struct{}
	left     []int // who was there still when ralph had ended
}

// begin prepares a directory with the agent and git's identity. Ralph, the agent and what it starts are killed in the
// end, whatever becomes of the test.
func begin(t *testing.T, args ...string) *work {
	t.Helper()
	w := &work{T: t, dir: t.TempDir(), home: t.TempDir(), args: args}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "TERM=dumb", "HOME=" + w.home, "RALPH_SANDBOX=off", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Alice", "GIT_AUTHOR_EMAIL=alice@example.com", "GIT_COMMITTER_NAME=Alice",
		"GIT_COMMITTER_EMAIL=alice@example.com",
	}
	w.write("agent", strings.ReplaceAll(unheeding, "DIR", w.dir))
	t.Cleanup(func() {
		if w.command != nil && w.command.Process != nil {
			_ = w.command.Process.Kill()
		}
		for _, pid := range w.survivors() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return w
}

func (w *work) write(name, text string) {
	w.Helper()
	put(w, filepath.Join(w.dir, name), text, 0o755) // it can be a program
}

func (w *work) sh(line string) string {
	w.Helper()
	command := exec.Command("sh", "-c", line)
	command.Dir, command.Env = w.dir, w.env
	out, err := command.CombinedOutput()
	if err != nil {
		w.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// start starts ralph, with a terminal or without, and waits until its agent has started everything.
func (w *work) start(atTerminal bool) {
	w.Helper()
	w.run(atTerminal, "ralph", w.args...)
	w.waitFor("the agent", func() bool { return w.exists("ready") })
	if n := len(w.survivors()); n < 3 {
		w.Fatalf("%d processes of the agent are found, want three and more", n)
	}
}

func (w *work) run(atTerminal bool, program string, args ...string) {
	w.Helper()
	w.stderr.reset()
	w.command = exec.Command(program, args...)
	w.command.Dir, w.command.Env = w.dir, w.env
	var err error
	var looking sync.WaitGroup
	if atTerminal {
		if w.terminal, err = atTerminalOf(w.command); err == nil {
			looking.Go(func() { w.look(w.terminal) })
		}
	} else {
		w.command.Stdout, w.command.Stderr = cmp.Or[io.Writer](w.out, &w.stderr), &w.stderr
		err = w.command.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	w.ended = make(chan struct{})
	go func() {
		_ = w.command.Wait()
		w.left = w.survivors()
		looking.Wait()
		close(w.ended)
	}()
}

// atTerminalOf starts a command at a terminal of its own, which closes at once when it is closed, also while it is
// read.
func atTerminalOf(command *exec.Cmd) (*os.File, error) {
	terminal, err := pty.Start(command)
	if err != nil {
		return nil, err
	}
	defer terminal.Close()
	fd, err := unix.FcntlInt(terminal.Fd(), unix.F_DUPFD_CLOEXEC, 0) // a copy in another command would keep it open
	if err == nil {
		err = syscall.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), "terminal"), err
}

// look keeps what is on the screen.
func (w *work) look(terminal *os.File) {
	some := make([]byte, 4096)
	for {
		n, err := terminal.Read(some)
		_, _ = w.stderr.Write(bytes.ReplaceAll(some[:n], []byte("\r"), nil))
		if err != nil {
			return
		}
	}
}

func (w *work) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}

// patience bounds what should take no time, for machines that are busy with something else.
const patience = time.Minute

func (w *work) waitFor(what string, is func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-w.ended:
			if !is() {
				w.Fatalf("ralph has ended before this: %s; it said:\n%s", what, w.stderr.String())
			}
		default:
		}
		if time.Now().After(end) {
			w.Fatalf("it never came to this: %s; ralph said:\n%s", what, w.stderr.String())
		}
	}
}

func (w *work) says(text string) {
	w.Helper()
	w.waitFor("it says "+text, func() bool { return strings.Contains(w.stderr.String(), text) })
}

// send sends a signal, to nobody once ralph has ended.
func (w *work) send(s syscall.Signal) { _ = w.command.Process.Signal(s) }

// types presses keys at the terminal.
func (w *work) types(keys string) {
	w.Helper()
	if _, err := w.terminal.WriteString(keys); err != nil {
		w.Fatal(err)
	}
}

// storm sends every ending signal again and again until ralph has ended: whenever a third one could do harm, one comes.
func (w *work) storm() {
	for n := 0; ; n++ {
		w.send([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}[n%4])
		select {
		case <-w.ended:
			return
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// ends waits for the end, when nothing may be left.
func (w *work) ends(code int) {
	w.Helper()
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.Fatalf("ralph does not end; it said:\n%s", w.stderr.String())
	}
	if len(w.left) > 0 {
		w.Errorf("ralph has ended, and processes are left: %v", w.left)
	}
	if got := w.command.ProcessState.ExitCode(); got != code {
		w.Errorf("exit code %d (%s), want %d; it said:\n%s", got, w.command.ProcessState, code, w.stderr.String())
	}
	if strings.Contains(w.stderr.String(), "goroutine ") {
		w.Errorf("it shows its insides:\n%s", w.stderr.String())
	}
	for _, name := range []string{".ralph.lock", ".ralph-active"} {
		if w.exists(name) {
			w.Errorf("%s is left", name)
		}
	}
}

// survivors are the processes that work in the directory or have it in their command line, but for ralph itself.
func (w *work) survivors() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || w.command != nil && w.command.Process != nil && pid == w.command.Process.Pid {
			continue
		}
		at, _ := os.Readlink("/proc/" + e.Name() + "/cwd")
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if at == w.dir || strings.HasPrefix(at, w.dir+"/") || strings.HasPrefix(at, w.home+"/") ||
			bytes.Contains(line, []byte(w.dir)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// inClone makes the directory a clone with an issue, a check and a plan.
func (w *work) inClone() {
	w.Helper()
	w.write("issue.md", "# Make it work\n\nIt does not.\n")
	w.write("tasks/one.md", "# Make it work\n\nIt does not.\n")
	w.write("Makefile", "test:\n\t@true\n")
	w.write(".gitignore", "/agent\n/ready\n/session\n/daemon\n/interrupted\n")
	w.write("ralph/prd.md", "# Greetings\n\nA file that greets.\n")
	w.write("ralph/progress.txt", "# Ralph Progress Log\n")
	w.write("ralph/tasks.json",
		`{"project": "demo", "branchName": "ralph/demo", "description": "d", "verifyCommands": ["true"], "userStories": [`+
			story("US-001")+"]}\n")
	w.sh("git init -q -b main && git add . && git commit -qm seed")
}

// TestNoSignalLeavesAnythingBehind asks ralph to end twice and then again and again, in every place and with every
// command that runs something: it ends once everything that it has started has ended, and not before. In a job of
// GitHub's one signal is enough, and everything has gone two seconds later.
func TestNoSignalLeavesAnythingBehind(t *testing.T) {
	const nobody, terminal, job = 0, 1, 2
	prompt := []string{"run", "-p", "x", "--agent", "./agent"}
	for name, c := range map[string]struct {
		args     []string
		where    int
		prepare  func(w *work)
		waitsFor string
	}{
		"a prompt at a terminal": {prompt, terminal, nil, "the agent's turn of iteration 1/10"},
		"a plan at a terminal": {[]string{"plan", "run", "--agent", "./agent"}, terminal, (*work).inClone,
			"the agent's turn of iteration 1/15"},
		"supervise at a terminal":       {[]string{"supervise", "--", "./agent"}, terminal, nil, "attempt 1 of 100"},
		"Landlock at a terminal":        {prompt, terminal, func(w *work) { w.in("landlock") }, "the agent's turn of iteration 1/10"},
		"bubblewrap":                    {prompt, nobody, func(w *work) { w.in("bwrap") }, "the agent's turn of iteration 1/10"},
		"a check":                       {prompt, nobody, (*work).checkThatHangs, "the check ./hang"},
		"a check before the first turn": {prompt, terminal, (*work).foundCheckThatHangs, "the check make test"},
		"the setup of an issue": {[]string{"run", "--issue", "issue.md", "--agent", "./agent", "--skip-review"}, nobody,
			(*work).setupThatHangs, "the setup command ./hang"},
		"an agent that is derived": {[]string{"plan", "derive", "--agent", "./agent"}, nobody, (*work).inClone,
			"the agent's answer"},
		"a turn in a job":    {prompt, job, nil, "the agent's turn of iteration 1/10"},
		"a check in a job":   {prompt, job, (*work).checkThatHangs, "the check ./hang"},
		"supervise in a job": {[]string{"supervise", "--", "./agent"}, job, nil, "attempt 1 of 100"},
		// it is killed with its supervisor; it was sent one signal, and leaves its lock to the next
		"a run that is supervised": {append([]string{"supervise", "--", "ralph"}, prompt...), nobody, nil, "attempt 1 of 100"},
		"a job that is ralph's":    {[]string{"action"}, job, (*work).inJob, "the agent's turn of iteration 1/5"},
	} {
		if !every && !slices.Contains([]string{"a prompt at a terminal", "the setup of an issue", "a turn in a job", "a job that is ralph's"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, c.args...)
			if c.prepare != nil {
				c.prepare(w)
			}
			if c.where == job {
				w.env = append(w.env, "GITHUB_ACTIONS=true")
			}
			w.start(c.where == terminal)
			asked := time.Now()
			if c.where == terminal {
				w.types("\x03")
			} else {
				w.send(syscall.SIGTERM)
			}
			w.says("Received signal, shutting down...\n")
			if c.where == job {
				w.says("Stopping " + c.waitsFor + "; what is left of it after 2s is killed, and more signals change nothing.")
			} else {
				w.says(" " + c.waitsFor)
			}
			w.storm()
			signaled := 1
			if name == "a run that is supervised" {
				signaled = 2
				w.sh("rm .ralph.lock")
			}
			w.ends(130)
			// ralph's own job pushes and comments, too
			if took := time.Since(asked); c.where == job && c.args[0] != "action" && took >= proc.DefaultGrace {
				t.Errorf("it took %s", took)
			}
			if got := w.stderr.String(); strings.Count(got, "Received signal") != signaled || signaled == 2 && strings.Contains(got, "Stopping the agent") {
				t.Errorf("the first signal is told otherwise than %d times:\n%s", signaled, got)
			}
			if w.exists("turned") {
				t.Error("a turn began after the signal")
			}
		})
	}
}

// in lets the run use a sandbox.
func (w *work) in(sandbox string) {
	w.Helper()
	w.args = append(w.args, "--sandbox", sandbox)
	w.env = append(w.env, "RALPH_SANDBOX=")
}

// checkThatHangs lets the agent's turn end, and hangs in a guardrail.
func (w *work) checkThatHangs() {
	w.Helper()
	w.sh("mv agent hang")
	w.write("agent", "#!/bin/sh\necho '<response>DONE</response>'\n")
	w.write(".ralph/settings.json", `{"guardrails": [{"command": "./hang"}]}`)
}

// foundCheckThatHangs hangs in a check that nobody has named, before the first turn.
func (w *work) foundCheckThatHangs() {
	w.Helper()
	w.inClone()
	w.sh("mv agent hang")
	w.write("agent", "#!/bin/sh\ntouch turned\n")
	w.write("Makefile", "test:\n\t./hang\nlint:\n\ttrue\n")
}

// setupThatHangs hangs before the first turn.
func (w *work) setupThatHangs() {
	w.Helper()
	w.write(".ralph/settings.json", `{"setup": "./hang", "guardrails": [{"command": "true"}]}`)
	w.sh("cp agent hang")
	w.inClone()
}

// TestSignalsAtATerminal presses Ctrl-C once or closes the terminal, and the step goes on, and what it did counts; twice,
// and the next run asks whether to go on, and waits for nothing where the terminal closes then.
func TestSignalsAtATerminal(t *testing.T) {
	t.Parallel()
	start := func() *work {
		w := begin(t, "run", "-p", "x", "--agent", "./agent")
		w.write("agent", "#!/bin/sh\ntrap '' INT\necho working\nuntil [ -e go ]; do sleep 0.05; done\necho finished\n")
		w.run(true, "ralph", w.args...)
		w.says("working")
		return w
	}
	stop := func(w *work) {
		w.types("\x03")
		w.says("Received signal, shutting down...")
		w.types("\x03")
		w.ends(130)
	}
	for name, leave := range map[string]func(w *work){
		"Ctrl-C":              func(w *work) { w.types("\x03"); w.says("Received signal, shutting down...") },
		"the terminal closes": func(w *work) { _ = w.terminal.Close(); time.Sleep(500 * time.Millisecond) },
	} {
		w := start()
		leave(w)
		w.write("go", "")
		w.ends(130)
		if got := w.sh("cat .ralph/runs/*/journal.jsonl"); !strings.Contains(got, `"class":"ok"`) || !strings.Contains(got, `"outcome":"interrupted"`) {
			t.Errorf("%s: the screen is:\n%s\nand the journal:\n%s", name, w.stderr.String(), got)
		}
	}
	w := start()
	stop(w)
	before := w.sh("ls -A . .ralph .ralph/runs")
	w.run(true, "ralph", w.args...)
	w.sees("is unfinished after 0 iterations. Resume or fresh? (R/f): ")
	_ = w.terminal.Close()
	if w.ends(130); w.sh("ls -A . .ralph .ralph/runs") != before {
		t.Errorf("who leaves at the question leaves %s, and found %s", w.sh("ls -A . .ralph .ralph/runs"), before)
	}
	w.run(true, "ralph", w.args...)
	w.sees("Resume or fresh? (R/f): ")
	w.types("f\n")
	w.says("working")
	stop(w)
}

// inJob makes a job of GitHub's that works on an issue. Its agent may be another user, who has to get to the directory.
func (w *work) inJob() {
	w.Helper()
	w.hub = newHub(w)
	hub := w.hub
	var err error
	if w.dir, err = os.MkdirTemp("", "job"); err == nil {
		err = os.Chmod(w.dir, 0o777)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = os.RemoveAll(w.dir) })
	w.write("agent", strings.ReplaceAll(unheeding, "DIR", w.dir))
	_, err = hub.CommitFiles("alice", "demo", "main", "begin", map[string]string{"Makefile": "test:\n\t@true\n"})
	if err != nil {
		w.Fatal(err)
	}
	hub.AddToken(jobToken, "", fake.Actions)
	issue := hub.AddIssue("alice", "demo", fake.Issue{Title: "Make it work", Body: "It does not.", Author: "alice"})
	hub.Label("alice", "demo", issue, "ralph", "alice")
	w.write("event.json", string(hub.LabeledPayload("alice", "demo", issue, "ralph", "alice")))
	w.write("workspace/keep", "")
	w.env = append(append(w.env, addresses(hub)...), "CI=true", "GITHUB_EVENT_NAME=issues",
		"GITHUB_EVENT_PATH="+filepath.Join(w.dir, "event.json"), "GITHUB_REPOSITORY=alice/demo", "GITHUB_RUN_ID=1",
		"GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKSPACE="+filepath.Join(w.dir, "workspace"),
		"GITHUB_OUTPUT="+filepath.Join(w.dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(w.dir, "summary.md"),
		"RALPH_WORKSPACE="+filepath.Join(w.dir, "ralph"), "INPUT_GITHUB_TOKEN="+jobToken,
		"INPUT_AGENT="+filepath.Join(w.dir, "agent"), "INPUT_REVIEW=false")
}

// TestIgnoredSignalsStayIgnored: nohup has SIGHUP ignored, a shell SIGINT and SIGQUIT of what it runs in the
// background.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shell   string
		ignored []syscall.Signal
	}{
		"nohup": {`exec nohup ralph run -p x --agent ./agent`, []syscall.Signal{syscall.SIGHUP}},
		"in the background": {`ralph run -p x --agent ./agent & echo $! > pid; wait $!`,
			[]syscall.Signal{syscall.SIGINT, syscall.SIGQUIT}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.write("agent", "#!/bin/sh\ntouch ready\nuntil [ -e go ]; do sleep 0.05; done\necho '<response>DONE</response>'\n")
			w.run(false, "sh", "-c", c.shell)
			w.waitFor("the agent", func() bool { return w.exists("ready") })
			ralph := w.command.Process.Pid
			if text, err := os.ReadFile(filepath.Join(w.dir, "pid")); err == nil {
				ralph = number(string(text))
			}
			for range 3 {
				for _, s := range c.ignored {
					if err := syscall.Kill(ralph, s); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(100 * time.Millisecond)
			}
			w.write("go", "")
			w.ends(0)
			if strings.Contains(w.stderr.String(), "Received signal") {
				t.Errorf("it said:\n%s", w.stderr.String())
			}
		})
	}
}

// TestInputIsLeftAtOnce: a command that reads what somebody types waits for nothing either.
func TestInputIsLeftAtOnce(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"signature": {"signature"}, "replay": {"replay", "--agent", "claude", "-"}, "a task": {"task", "create", "-f", "-"},
		"a hook": {"hook", "guard"}, "the stop hook": {"hook", "stop"},
		"a wish": {"plan", "derive", "--agent", "./agent"}, "settings": {"init"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, args...)
			if name == "a wish" {
				w.sh("git init -q -b main && ralph plan init")
			}
			w.run(true, "ralph", w.args...)
			switch name {
			case "a wish":
				w.says("What should be built?")
			case "settings":
				w.says("Agent command")
			default:
				w.waitFor("it waits", func() bool { return waiting(w.command.Process.Pid) })
			}
			w.types("\x03")
			w.says("Received signal")
			code := 130
			if name == "the stop hook" { // whose exit code speaks to the agent
				code = 0
			}
			w.ends(code)
		})
	}
}

// waiting reports whether a process has a thread that reads from its terminal.
func waiting(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, thread := range threads {
		if call, _ := os.ReadFile(thread); strings.HasPrefix(string(call), fmt.Sprintf("%d 0x0 ", syscall.SYS_READ)) {
			return true
		}
	}
	return false
}

// TestHungOutput: nobody reads what ralph prints, so it cannot come to its end when the agent has: a third signal ends
// it, and leaves nothing either.
func TestHungOutput(t *testing.T) {
	t.Parallel()
	w := begin(t, "run", "-p", "x", "--agent", "./agent")
	w.write("agent", "#!/bin/sh\ntouch ready\nwhile :; do echo much; done\n")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	w.out = writer
	w.run(false, "ralph", w.args...)
	_ = writer.Close()
	w.waitFor("the agent", func() bool { return w.exists("ready") })
	time.Sleep(500 * time.Millisecond) // until the pipe is full
	w.send(syscall.SIGTERM)
	w.says("Received signal")
	w.send(syscall.SIGTERM)
	w.says("Stopping")
	w.waitFor("the agent's end", func() bool { return len(w.survivors()) == 0 })
	w.send(syscall.SIGTERM)
	w.sh("rm -f .ralph.lock") // the next run takes it over
	w.ends(130)
}

// TestSupervisedTurnIsToldTruly: a supervisor that is stopped asks the agent to end, too. The run says so, and not that
// the machine ran out of memory; the turn does not count, and no check is blamed.
func TestSupervisedTurnIsToldTruly(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *work){
		"in a turn": func(w *work) { w.write("agent", "#!/bin/sh\ntouch ready\nexec sleep 600\n") },
		"in a check": func(w *work) {
			w.write("agent", "#!/bin/sh\necho '<response>DONE</response>'\n")
			w.write(".ralph/settings.json", `{"guardrails": [{"command": "touch ready; exec sleep 600"}]}`)
		},
	} {
		if !every && name != "in a turn" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, "supervise", "--", "ralph", "run", "-p", "x", "--agent", "./agent")
			prepare(w)
			w.run(false, "ralph", w.args...)
			w.waitFor("the agent", func() bool { return w.exists("ready") })
			w.send(syscall.SIGTERM)
			w.says("Received signal")
			w.send(syscall.SIGTERM)
			w.ends(130)
			got := w.sh("cat .ralph/runs/*/journal.jsonl .ralph/supervise/attempt_001.log")
			for _, wrong := range []string{"memory", `"class":"interrupted"`, `"type":"judged"`, "SIGTERM\""} {
				if strings.Contains(got, wrong) {
					t.Errorf("%s is told:\n%s", wrong, got)
				}
			}
			if !strings.Contains(got, `"outcome":"interrupted"`) {
				t.Errorf("the run's end is not told:\n%s", got)
			}
			if name == "in a turn" && !strings.Contains(got, "the agent was ended by a signal while the run was being stopped") {
				t.Errorf("why the turn ended is not told:\n%s", got)
			}
		})
	}
}
