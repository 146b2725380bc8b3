package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/inside"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Where a box has what is ralph's.
const (
	boxDir    = "/run/ralph"
	boxSelf   = boxDir + "/ralph"
	boxSocket = boxDir + "/egress"
)

// bwrap makes boxes with bubblewrap: namespaces of their own for files, processes, users and the network.
type bwrap struct {
	s       *Sandbox
	program string
	home    string // of what runs, in the box
}

func (s *Sandbox) openBwrap(ctx context.Context) error {
	program, err := proc.LookPath("bwrap", s.o.Parent)
	if err != nil {
		return &UnavailableError{"bubblewrap is not installed"}
	}
	if err := s.prepareDirs(); err != nil {
		return err
	}
	b := &bwrap{s: s, program: program, home: s.o.Home}
	if b.home == "" || b.home == "/" || !isDir(b.home) {
		b.home = boxDir + "/home"
	}
	s.maker, s.own = b, s.ownCaches()
	s.Line = "sandbox: bwrap: only the worktree and a home of the run's own can be written, your keys cannot be read, and the network is reached only by a proxy that knows which hosts are allowed"
	s.layered = true
	if err := s.try(ctx); err == nil || ctx.Err() != nil {
		return err
	}
	s.layered = false // the kernel, or who watches over it, lets no box mount
	return s.try(ctx)
}

// tryLimit is how long a box may take to show that it works.
const tryLimit = 30 * time.Second

// try runs something in a box, and finds out with it whether the agents could begin there. What is wrong with an agent
// is a mistake; what is wrong with the box is a reason to take another.
func (s *Sandbox) try(ctx context.Context) error {
	for again := 3; ; again-- {
		why, err := s.whyNot(ctx, proc.Spec{Argv: []string{"sh", "-c", "exit 42"},
			Env: proc.Environment(s.o.Parent, proc.Allowed), Box: s.Box(Setup), Timeout: tryLimit}, 42)
		switch {
		case err != nil:
			return &UnavailableError{err.Error()}
		case ctx.Err() != nil:
			return ctx.Err()
		case why == "":
			s.homes.tried = true
			return nil
		// the socket of someone who ended meanwhile: it can no longer be covered, and need not be
		case again == 0 || !strings.Contains(why, "Can't create file at "):
			return &UnavailableError{"it is here and does not work: " + why}
		}
	}
}

// whyNot runs something in a box, and says why it does not end with an exit code; "" when it does.
func (s *Sandbox) whyNot(ctx context.Context, spec proc.Spec, want int) (why string, err error) {
	said := proc.NewTail(0, 4<<10)
	spec.Dir, spec.As, spec.Stdout, spec.Stderr, spec.Grace = s.o.Dir, s.o.As, said, said, time.Second
	end, err := proc.Run(ctx, spec)
	if err != nil || end.Class == proc.Exited && end.Exit == want {
		return "", err
	}
	if why = safetext.OneLine(strings.TrimSpace(said.String())); why == "" {
		why = fmt.Sprintf("%s, exit code %d", end.Class, end.Exit)
	}
	return why, nil
}

// base are the arguments that every box has now.
func (b *bwrap) base() []string {
	v := b.s.view
	args := []string{"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session"}
	if asRoot(b.s.o.As) {
		args = append(args, "--cap-drop", "ALL")
	} else {
		args = append(args, "--unshare-user")
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	// which root may write without any capability
	for _, name := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/acpi", "/proc/scsi", "/proc/fs"} {
		if exists(name) {
			args = append(args, "--ro-bind", name, name)
		}
	}
	// What has gone since the run began, such as the socket of a service that ended, needs no cover, and could not be
	// given one.
	for _, dir := range v.hidden {
		if exists(dir) {
			args = append(args, "--tmpfs", dir)
		}
	}
	for _, file := range v.blank {
		if exists(file) {
			args = append(args, "--ro-bind", b.s.nothing(), file)
		}
	}
	return args
}

// enter implements maker.
func (b *bwrap) enter(u Use, s proc.Spec) (proc.SandboxedCommand, error) {
	program, v, err := b.s.begin(u, s, "/dev/shm") // bwrap mounts its own /dev
	if err != nil {
		return proc.SandboxedCommand{}, err
	}
	g, err := b.s.open(u, s)
	if err != nil {
		return proc.SandboxedCommand{}, err
	}
	layers, lay, leave := b.lay(u)
	mounts, dir, err := b.mounts(u, s, v, g, layers)
	if err != nil {
		g.close()
		return proc.SandboxedCommand{}, err
	}
	steps := b.steps(u, g, s.Limits)
	steps.Layers = lay
	args := slices.Concat(b.base(), mounts, []string{"--chdir", dir, "--", boxSelf}, steps.Arguments(program, s.Argv))
	s.Argv = append([]string{b.program}, args...)
	s.Env = b.s.environ(s, b.dirs())
	s.Dir = "/"
	return proc.SandboxedCommand{Spec: s, Keepers: 2, Wraps: true, Leave: func() {
		g.close()
		leave()
	}}, nil
}

// begin finds the program of a process and makes the home of its use. The view shows the program, also in what is
// hidden besides.
func (s *Sandbox) begin(u Use, of proc.Spec, hidden ...string) (program string, v visiblePaths, err error) {
	if program, err = proc.LookPath(relativeTo(of.Dir, of.Argv[0]), of.Env); err != nil {
		return "", v, err
	}
	if err := s.prepareHome(u); err != nil {
		return "", v, err
	}
	v = s.view.clone()
	v.hidden = append(slices.Clip(v.hidden), hidden...)
	v.showProgram(s.o.Home, program)
	if resolved, err := real(program); err == nil {
		v.show(s.o.Home, resolved)
	}
	return program, v, nil
}

// dirs are where what runs finds its files in the box.
func (b *bwrap) dirs() dirs { return dirs{home: b.home, cache: b.home + "/.cache", temp: "/tmp"} }

// mounts are what a box has of this machine, in triples but for the first: a home, what lies over its caches or beside it,
// the tree, and the way out. dir is where the process works there.
func (b *bwrap) mounts(u Use, s proc.Spec, v visiblePaths, g *listenerSocket, first []string) (args []string, dir string,
	err error) {
	dir, judge := b.s.o.judged(s.Dir)
	tree := b.judgeTree
	if !judge {
		dir, tree = s.Dir, func() []string { return b.worktree(u, s.Dir) }
		v.elsewhere(&b.s.o, s.Dir)
	}
	at, in := b.s.dirs(u), b.dirs()
	inHome, err := b.s.places(slices.Concat(shown(v), b.agentFiles(u)), at, in)
	if err != nil {
		return nil, "", fmt.Errorf("making a home for the sandbox: %w", err)
	}
	return slices.Concat([]string{"--bind", at.home, in.home, "--bind", at.cache, in.cache}, first, inHome, tree(),
		b.writableIn(judge), own(s.WritableDir),
		[]string{"--ro-bind", b.s.o.self, boxSelf, "--bind", g.dir, boxSocket}), dir, nil
}

// userns reports whether a use may make namespaces of users: an agent that makes a change cannot, nor one that reviews
// it.
func (s *Sandbox) userns(u Use) bool { return s.o.Userns && !u.turn() }

// steps are what is done in the box. Its user has a namespace of its own, in which the system counts processes, unless
// that is root, whom it does not count.
func (b *bwrap) steps(u Use, g *listenerSocket, l proc.Limits) inside.Steps {
	steps := inside.Steps{Socket: boxSocket + "/sock", Carry: g.carried}
	if inside.KnowsSockets() {
		steps.Sockets = &inside.Sockets{Own: true, Userns: b.s.userns(u)}
	}
	if l.Processes > 0 && !asRoot(b.s.o.As) {
		steps.Processes = proc.MostOfUser(l.Processes)
	}
	return steps
}

// relativeTo is a program's name as seen from a directory; one without a slash is searched for on PATH.
func relativeTo(dir, name string) string {
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		return filepath.Join(dir, name)
	}
	return name
}

func shown(v visiblePaths) (args []string) {
	for _, path := range v.shown {
		args = append(args, "--ro-bind", path, path)
	}
	for _, link := range v.links {
		if !slices.ContainsFunc(v.shown, func(dir string) bool { return over(dir, link[1]) }) {
			args = append(args, "--symlink", link[0], link[1])
		}
	}
	return args
}

// agentFiles are what an agent has of the user's home.
func (b *bwrap) agentFiles(u Use) (args []string) {
	for _, f := range b.s.given(u) {
		args = append(args, map[Access]string{Shared: "--bind", Shown: "--ro-bind"}[f.Access], f.Path, filepath.Join(b.home, f.at))
	}
	return args
}

func own(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{"--bind", dir, dir}
}

// elsewhere lets a process see where it works, when that is not the run's own tree: a checkout that is made for a
// reviewer. It never writes there.
func (v *visiblePaths) elsewhere(o *Options, dir string) {
	if o.inTree(dir) {
		return
	}
	v.closed = nil // the objects may lie in what is hidden
	top := clone(dir, o.Home)
	for _, path := range append(borrowed(top), top) {
		v.show(o.Home, path)
	}
}

// worktree shows the run's own tree: to write, but what decides over the next process there, or to read.
func (b *bwrap) worktree(u Use, dir string) []string {
	if at, err := real(dir); err == nil {
		dir = at
	}
	if !b.s.o.inTree(dir) {
		dir = b.s.o.Dir
		u = Reads
	}
	top := clone(dir, b.s.o.Home)
	args := own(top)
	if u == Reads {
		args[0] = "--ro-bind"
	}
	for _, from := range b.s.borrowed {
		args = append(args, "--ro-bind", from, from)
	}
	if u == Reads {
		for _, config := range gitConfigs(top) {
			args = append(args, "--ro-bind", b.s.masked(config), config)
		}
		return args
	}
	args = append(args, b.repository(top)...)
	names := []string{".ralph-active", ".ralph.lock", ".ralph", ".ralph/tasks"}
	if b.s.o.Judge != "" { // in a separate checkout, .ralph is part of the change, and the agent can revert it
		names = names[:2]
	}
	for _, d := range slices.Compact([]string{top, dir}) {
		for _, path := range unlinked(d, names...) {
			flag := map[bool]string{true: "--bind", false: "--ro-bind"}[filepath.Base(path) == "tasks"]
			args = append(args, flag, path, path)
		}
	}
	return args
}

// lay are the arguments that bring the layers of a use into a box, and what is mounted of them there.
func (b *bwrap) lay(u Use) (args []string, list []inside.Layer, leave func()) {
	layers, upper := b.s.layers(u), inside.LayersDir+"/upper"
	if len(layers) == 0 {
		return nil, nil, func() {}
	}
	stores := filepath.Join(b.s.cacheDir(u), "layers")
	work := "work" + strconv.FormatInt(b.s.counter.Add(1), 10) // two boxes at a time must not share it
	args = []string{"--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_SETPCAP",
		"--bind", stores, upper}
	for i, l := range layers {
		to := inside.Layer{At: filepath.Join(b.dirs().cache, l.at), Upper: filepath.Join(upper, l.store()),
			Work: filepath.Join(upper, work, strconv.Itoa(i))}
		for j, from := range l.lower {
			at := filepath.Join(inside.LayersDir, strconv.Itoa(i), strconv.Itoa(j))
			args, to.Lower = append(args, "--ro-bind", from, at), append(to.Lower, at)
		}
		list = append(list, to)
	}
	return args, list, func() { _ = files.RemoveAll(filepath.Join(stores, work)) }
}

// objectsAt is where a box has the nth directory of objects.
func objectsAt(n int) string { return boxDir + "/objects/" + strconv.Itoa(n) }

// judgeTree shows the tree of the checks at the worktree's path, with the objects that it borrows, which must not be
// written.
func (b *bwrap) judgeTree() (args []string) {
	args = append(args, "--bind", b.s.o.Judge, clone(b.s.o.Dir, b.s.o.Home))
	for i, dir := range b.s.o.Objects {
		args = append(args, "--ro-bind", dir, objectsAt(i))
		if alternates := filepath.Join(dir, "info", "alternates"); exists(alternates) { // each of them is here by itself
			args = append(args, "--ro-bind", b.s.nothing(), filepath.Join(objectsAt(i), "info", "alternates"))
		}
	}
	return args
}

// writableIn are the paths that may be written beside a tree. Those in the worktree are no part of the tree of the
// checks.
func (b *bwrap) writableIn(judge bool) (args []string) {
	for _, path := range b.s.o.Writable {
		if judge && over(clone(b.s.o.Dir, b.s.o.Home), path) {
			continue
		}
		if at, err := real(path); err != nil || at != path { // something inside leads it elsewhere by now
			continue
		}
		args = append(args, "--bind", path, path)
	}
	return args
}

// repository protects hooks and configuration, which git runs later without any box. The directory they are in is
// mounted on itself, so that it cannot be moved out of the way.
func (b *bwrap) repository(top string) (args []string) {
	git := filepath.Join(top, ".git")
	info, err := os.Lstat(git)
	if err != nil {
		return nil
	}
	common := git
	if info.Mode().IsRegular() { // a worktree of a clone elsewhere
		args = append(args, "--ro-bind", git, git)
		dir, shared := linked(git)
		if shared == "" {
			return args
		}
		args = append(args, "--bind", shared, shared)
		if !over(shared, dir) {
			args = append(args, "--bind", dir, dir)
		}
		for _, path := range unlinked(dir, "config.worktree", "commondir", "gitdir") {
			args = append(args, "--ro-bind", b.s.masked(path), path)
		}
		common = shared
	} else if !info.IsDir() {
		return nil
	} else {
		args = append(args, "--bind", git, git)
	}
	if hooks := filepath.Join(common, "hooks"); b.s.o.Hooks && !exists(hooks) {
		_ = os.Mkdir(hooks, 0o755) // where it fails, no one can make one either
	}
	for _, objects := range unlinked(common, "objects") {
		args = append(args, "--bind", objects, objects)
	}
	// the last: where else objects come from
	for _, path := range unlinked(common, "hooks", "config", "config.worktree", "objects/info") {
		args = append(args, "--ro-bind", b.s.masked(path), path)
	}
	_ = filepath.WalkDir(filepath.Join(common, "modules"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipAll
		}
		switch {
		case d.IsDir() && (d.Name() == "objects" || d.Name() == "refs" || d.Name() == "logs"):
			return fs.SkipDir
		case d.IsDir() && d.Name() == "hooks":
			args = append(args, "--ro-bind", path, path)
			return fs.SkipDir
		case d.Type().IsRegular() && d.Name() == "config":
			args = append(args, "--ro-bind", b.s.masked(path), path)
		}
		return nil
	})
	return args
}
