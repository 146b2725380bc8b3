package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// judge is the machine of the checks: they share none with an agent.
func (m *microVM) judge() (*microVM, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checks != nil || m.checksErr != nil {
		return m.checks, m.checksErr
	}
	c := &microVM{s: m.s, program: m.program, dir: m.s.o.Judge, name: m.s.o.machineName(m.s.o.Judge, "-checks"), env: m.env}
	ctx, cancel := context.WithTimeout(context.Background(), createLimit) // the first check waits for it
	defer cancel()
	if m.checksErr = c.start(ctx); m.checksErr != nil {
		m.checksErr = fmt.Errorf("making the sandbox of the checks: %w", m.checksErr)
		return nil, m.checksErr
	}
	m.checks = c
	return c, nil
}

// forget removes the machine of the checks with all that they have left there: the next of them makes another.
func (m *microVM) forget() (was bool, err error) {
	m.mu.Lock()
	c := m.checks
	m.checks, m.checksErr = nil, nil
	m.mu.Unlock()
	if c == nil {
		return false, nil
	}
	_, err = c.ask(context.Background(), askLimit, nil, "rm", c.name)
	return true, err
}

// microVM makes boxes of Docker Desktop's sandboxes: one virtual machine for the worktree, which stays from turn to
// turn, and a fresh process in it for each. Files are kept in step by Docker, from the machine to here; what we write
// here it does not take over, so that is written there by exec.
type microVM struct {
	s       *Sandbox
	program string
	dir     string // the tree that it has
	name    string
	env     []string // of the client
	mu      sync.Mutex
	// checks is the machine of the tree that checks run in; nil: none of them has run yet.
	checks    *microVM
	checksErr error
	seen      map[string]stamp // the worktree as it was when something was last told to the machine, or came from it
}

// stamp tells a file from what it was before.
type stamp struct {
	size int64
	at   time.Time
	mode fs.FileMode
}

// syncPause is how long files take to come from the machine.
const syncPause = 2500 * time.Millisecond

const (
	askLimit    = 30 * time.Second
	createLimit = 10 * time.Minute // the template is fetched the first time
	argBytes    = 100 << 10        // of a prompt as an argument
	// of files that are written to the machine at once; above, it is stopped and sees them itself
	mostWritten = 64 << 20
)

var unsafeNameChars = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// machineName is the name of the sandbox for a directory: that of a clone, whose tasks share it one after another, with
// an end, or of a tree.
func (o Options) machineName(dir, end string) string {
	if len(o.Hide) > 0 {
		dir = o.Hide[0] + end
	}
	return "ralph-" + unsafeNameChars.ReplaceAllString(dir, "_")
}

func (s *Sandbox) openDockerSandbox(ctx context.Context) error {
	program, err := proc.LookPath("docker", s.o.Parent)
	if err != nil {
		return &UnavailableError{"docker is not installed"}
	}
	for _, a := range s.o.Agents {
		if a.Name != "claude" {
			return &UnavailableError{"it runs only claude"}
		}
	}
	m := &microVM{s: s, program: program, dir: s.o.Dir, name: s.o.machineName(s.o.Dir, ""),
		env: proc.Environment(s.o.Parent, append(slices.Clone(proc.Allowed), "DOCKER_*"))}
	if over(s.o.Dir, s.o.Home) {
		return &UnavailableError{fmt.Sprintf("the worktree %s holds your home, and everything in it would be open", s.o.Dir)}
	}
	if err := m.start(ctx); err != nil {
		return &UnavailableError{err.Error()}
	}
	s.maker = m
	s.Line = "sandbox: docker-sandbox: agents and checks are in the virtual machine " + m.name +
		", which has the worktree and nothing else of this machine, and reaches only the hosts that are allowed"
	return nil
}

// start makes the machine, or starts it again.
func (m *microVM) start(ctx context.Context) error {
	listed, err := m.ask(ctx, askLimit, nil, "ls")
	if err != nil {
		return fmt.Errorf("docker sandbox ls does not work: %w", err)
	}
	if err := m.claim(ctx, listed); err != nil {
		return err
	}
	if err := m.network(ctx); err != nil {
		return err
	}
	m.seen = m.look()
	return nil
}

// claim takes the first machine of its name or a numbered one that has no tree of a run which may continue, and makes it.
func (m *microVM) claim(ctx context.Context, listed string) error {
	for base, n := m.name, 2; ; n++ {
		tree, known := machineTree(listed, m.name)
		switch {
		case !known:
			return m.create(ctx)
		case (tree == m.dir || tree == "") && m.dir != m.s.o.Judge:
			return m.restart(ctx) // someone may have edited files since
		case tree == m.dir || tree == "" || !exists(tree): // what checks have left there, or its run has ended
			if _, err := m.ask(ctx, askLimit, nil, "rm", m.name); err != nil {
				return err
			}
			return m.create(ctx)
		}
		m.name = fmt.Sprintf("%s-%d", base, n)
	}
}

// machineTree is the tree of a machine in the list of machines; empty where the list does not say.
func machineTree(listed, name string) (tree string, known bool) {
	for line := range strings.Lines(listed) {
		if slices.Contains(strings.Fields(line), name) {
			_, tree, _ = strings.Cut(strings.TrimSpace(line), " /")
			tree, _, _ = strings.Cut(tree, ", ") // more directories may follow
			if tree != "" {
				tree = "/" + tree
			}
			return tree, true
		}
	}
	return "", false
}

// ask runs docker sandbox.
func (m *microVM) ask(ctx context.Context, limit time.Duration, in io.Reader, args ...string) (string, error) {
	said := proc.NewTail(64<<10, 4<<10)
	end, err := proc.Run(ctx, proc.Spec{Argv: append([]string{m.program, "sandbox"}, args...), Env: m.env, Dir: m.dir,
		Stdin: in, Stdout: said, Stderr: said, Timeout: limit})
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "", ctx.Err()
	case end.Class != proc.Exited || end.Exit != 0:
		return "", fmt.Errorf("docker sandbox %s: %s, exit code %d: %s", args[0], end.Class, end.Exit,
			safetext.OneLine(said.String()))
	}
	return said.String(), nil
}

// Scripts that ready a new machine. The directory of the login is their first argument: none of it is ever a part of a
// script.
const (
	linkLogin = `rm -rf /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true
ln -s "$1/.claude" /home/agent/.claude
ln -s "$1/.claude.json" /home/agent/.claude.json
chown -h agent:agent /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true`
	nameCommitter = `git config --global user.email "ralph@localhost"
git config --global user.name "Ralph Loop"`
)

// create makes the machine. Its login is in a directory of its own, which outlives it.
func (m *microVM) create(ctx context.Context) error {
	state := filepath.Join(m.s.o.Home, ".dclaude_state")
	err := os.MkdirAll(filepath.Join(state, ".claude"), 0o700)
	config := filepath.Join(state, ".claude.json")
	content, read := os.ReadFile(config)
	if err == nil && (errors.Is(read, fs.ErrNotExist) || read == nil && len(bytes.TrimSpace(content)) == 0) {
		err = os.WriteFile(config, []byte("{}\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("making a directory for claude's login: %w", err)
	}
	args := []string{"create", "--name", m.name, "claude", m.dir, state}
	if m.dir == m.s.o.Dir {
		for _, objects := range borrowed(clone(m.dir, m.s.o.Home)) {
			args = append(args, objects+":ro")
		}
	}
	if _, err := m.ask(ctx, createLimit, nil, args...); err != nil {
		return err
	}
	if _, err := m.ask(ctx, askLimit, nil, "exec", "-u", "root", m.name, "bash", "-c", linkLogin, "bash",
		state); err != nil {
		return err
	}
	_, err = m.ask(ctx, askLimit, nil, "exec", m.name, "bash", "-c", nameCommitter)
	return err
}

// restart stops the machine: the next thing that runs in it starts it again, with the files as they are here.
func (m *microVM) restart(ctx context.Context) error {
	_, err := m.ask(ctx, createLimit, nil, "stop", m.name)
	return err
}

// network lets the machine speak to what is allowed, and to nothing else.
func (m *microVM) network(ctx context.Context) error {
	args := []string{"network", "proxy", m.name, "--policy", "deny"}
	for _, host := range append(slices.Clone(m.s.o.Network), m.s.o.hosts()...) {
		args = append(args, "--allow-host", host)
	}
	_, err := m.ask(ctx, askLimit, nil, args...)
	return err
}

// enter implements maker. An agent is run as docker runs it, with its prompt as an argument; what else there is by
// exec. A reviewer has no checkout: it reads the worktree, kept from writing by the tools that it has, and
// by who looks afterwards whether anything was written.
func (m *microVM) enter(u Use, s proc.Spec) (proc.SandboxedCommand, error) {
	if _, judge := m.s.o.judged(s.Dir); judge && m.dir != m.s.o.Judge {
		c, err := m.judge()
		if err != nil {
			return proc.SandboxedCommand{}, err
		}
		return c.enter(u, s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), createLimit)
	defer cancel()
	if err := m.tell(ctx); err != nil {
		return proc.SandboxedCommand{}, fmt.Errorf("writing to the sandbox %s: %w", m.name, err)
	}
	args := []string{m.program, "sandbox"}
	if !u.turn() || filepath.Base(s.Argv[0]) != "claude" {
		args = append(append(args, "exec", "-w", s.Dir, m.name), s.Argv...)
	} else {
		flags, err := m.prompted(ctx, s)
		if err != nil {
			return proc.SandboxedCommand{}, err
		}
		args = append(append(args, "run", m.name, "--"), flags...)
		s.Stdin = nil
	}
	s.Argv, s.Env, s.As = args, m.env, nil
	return proc.SandboxedCommand{Spec: s, Wraps: true, Leave: m.syncBack}, nil
}

// prompted are claude's arguments with the prompt among them, behind -p. One that is too long for that is written to
// the machine.
func (m *microVM) prompted(ctx context.Context, s proc.Spec) ([]string, error) {
	args := slices.DeleteFunc(slices.Clone(s.Argv[1:]), func(arg string) bool {
		return arg == "--dangerously-skip-permissions" // the template has it
	})
	if s.Stdin == nil || !slices.Contains(args, "-p") {
		return args, nil
	}
	text, err := io.ReadAll(s.Stdin)
	if err != nil {
		return nil, fmt.Errorf("reading the prompt: %w", err)
	}
	said := strings.ReplaceAll(string(text), "\x00", "")
	if len(said) > argBytes {
		const at = "/tmp/ralph-prompt.txt"
		if _, err := m.ask(ctx, askLimit, strings.NewReader(said), "exec", "-i", m.name, "sh", "-c",
			"cat > "+at); err != nil {
			return nil, err
		}
		said = "Read the file " + at + "; it holds your whole task."
	}
	if strings.HasPrefix(said, "-") { // it is no flag
		said = "\n" + said
	}
	i := slices.Index(args, "-p")
	return slices.Insert(args, i+1, said), nil
}

// syncBack waits until what was written in the machine is here, and notes how that is.
func (m *microVM) syncBack() {
	if m.s.o.settling != nil {
		m.s.o.settling()
	} else {
		time.Sleep(syncPause)
	}
	seen := m.look()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = seen
}

// tell writes what has changed here since the last look to the machine.
func (m *microVM) tell(ctx context.Context) error {
	now := m.look()
	m.mu.Lock()
	before := m.seen
	m.seen = now
	m.mu.Unlock()
	var changed, gone []string
	var size int64
	for name, at := range now {
		if before[name] != at {
			changed = append(changed, name)
			size += at.size
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			gone = append(gone, "./"+name)
		}
	}
	if size > mostWritten || len(gone) > 1000 {
		return m.restart(ctx)
	}
	slices.Sort(changed)
	slices.Sort(gone)
	if len(gone) > 0 {
		if _, err := m.ask(ctx, askLimit, nil,
			append([]string{"exec", "-w", m.dir, m.name, "rm", "-f", "--"}, gone...)...); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	packed, err := packed(m.dir, changed)
	if err != nil {
		return err
	}
	_, err = m.ask(ctx, createLimit, bytes.NewReader(packed), "exec", "-i", "-w", m.dir, m.name, "tar", "-x", "-f", "-")
	return err
}

// look takes the stamps of the worktree's files. Objects of git are never written again, and packages are not ours to
// write.
func (m *microVM) look() map[string]stamp {
	seen := map[string]stamp{}
	top := m.dir
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(top, path); {
		case err != nil:
			return nil
		case d.IsDir() && (rel == ".git/objects" || d.Name() == "node_modules" || rel == ".ralph/runs"):
			return fs.SkipDir
		case !d.IsDir():
			if info, err := d.Info(); err == nil {
				seen[rel] = stamp{info.Size(), info.ModTime(), info.Mode()}
			}
		}
		return nil
	})
	return seen
}

// packed is an archive of files and links.
func packed(dir string, names []string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		target := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if target, err = root.Readlink(name); err != nil {
				return nil, err
			}
		case !info.Mode().IsRegular():
			continue
		}
		header, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return nil, err
		}
		header.Name, header.Uname, header.Gname, header.Uid, header.Gid = name, "", "", 0, 0
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if target != "" {
			continue
		}
		content, err := files.ReadIn(root, name, info.Size())
		if err != nil || int64(len(content)) != info.Size() {
			return nil, fmt.Errorf("reading %s: it changes", name)
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
