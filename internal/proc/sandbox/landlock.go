package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/inside"
)

// Versions of Landlock, by what they bring.
const (
	llTruncate = 3
	llNet      = 4
	llScope    = 6
	llUnix     = 9
	llUDP      = 10
)

// landlocked makes boxes of what the kernel lets any process give up: files by path, TCP by port. Nothing can be taken
// out of a directory that may be written, there is no network of its own, and other processes are seen.
type landlocked struct {
	s    *Sandbox
	abi  int
	port map[Use]uint16 // where the gates are
}

func (s *Sandbox) openLandlock(ctx context.Context) error {
	abi, err := syscall.LandlockGetABIVersion()
	switch {
	case err != nil:
		return &UnavailableError{"the kernel has no Landlock, or it is not switched on"}
	case abi < llTruncate:
		return &UnavailableError{fmt.Sprintf("the kernel has version %d of Landlock, which lets files be truncated "+
			"everywhere; from 3 on it is of use (Linux 6.2)", abi)}
	}
	if err := s.prepareDirs(); err != nil {
		return err
	}
	l := &landlocked{s: s, abi: abi, port: map[Use]uint16{}}
	for _, u := range []Use{Checks, Works} {
		at, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("opening the sandbox's proxy: %w", err)
		}
		s.cleanup = append(s.cleanup, func() { _ = at.Close() })
		go s.gates[u].serve(at)
		l.port[u] = uint16(at.Addr().(*net.TCPAddr).Port)
	}
	s.maker = l
	s.Line = "sandbox: landlock (partial): files outside of the worktree and a home of the run's own cannot be written, " +
		"and your home cannot be read"
	if filter := l.sockets(Works); filter != nil && *filter == (inside.Sockets{}) {
		s.Line += "; beside TCP, no other socket can be made (the setting sandboxSockets)"
	}
	s.Line += "; " + l.open()
	return s.try(ctx)
}

// open says what does not hold.
func (l *landlocked) open() string {
	from, to := servers()
	open := []string{"hooks and configuration in .git can be written",
		"files in /dev/shm are shared with the whole machine",
		fmt.Sprintf("TCP is open to the ports from %d to %d, which servers of tests get", from, to)}
	if l.abi < llNet {
		open[2] = "TCP is open"
	}
	if s := l.sockets(Works); l.abi < llUDP && (s == nil || s.UDP) {
		open = append(open, "UDP is open")
	}
	if s := l.sockets(Works); l.abi < llUnix && (s == nil || s.Unix) {
		open = append(open, "unix sockets are open")
	}
	if l.abi < llScope {
		open = append(open, "processes of the same user can be sent signals")
	}
	return strings.Join(open, ", ")
}

// sockets are those that may be made. Where Landlock cannot say whom one may be used to speak to, it may not, unless
// someone has said so. nil: that cannot be had here.
func (l *landlocked) sockets(u Use) *inside.Sockets {
	if !inside.KnowsSockets() {
		return nil
	}
	all := l.s.o.Sockets == allSockets
	return &inside.Sockets{Unix: all || l.abi >= llUnix, UDP: all || l.abi >= llUDP, Userns: l.s.userns(u)}
}

// servers bounds the ports that the system assigns: servers of tests are there.
func servers() (from, to int) {
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if n, err := fmt.Sscan(string(text), &from, &to); n == 2 && err == nil && from >= 1024 && to > from {
		return from, to
	}
	return 32768, 60999
}

// linkFiles puts what an agent has of the user's home into its own.
func (l *landlocked) linkFiles(u Use) error {
	s, own := l.s, map[string]string{}
	for _, f := range s.given(u) {
		own[f.at] = f.Path
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.linkIn(s.dirs(u).home, own)
}

// enter implements maker.
func (l *landlocked) enter(u Use, s proc.Spec) (proc.SandboxedCommand, error) {
	program, v, err := l.s.begin(u, s)
	if err != nil {
		return proc.SandboxedCommand{}, err
	}
	if err := l.linkFiles(u); err != nil {
		return proc.SandboxedCommand{}, fmt.Errorf("making a home for the sandbox: %w", err)
	}
	o, r := l.s.o, l.s.dirs(u)
	_, judge := o.judged(s.Dir)
	if judge { // it must not reach the worktree
		v.hidden = append(v.hidden, clone(o.Dir, o.Home))
	} else {
		v.elsewhere(&o, s.Dir)
	}
	in := inside.Steps{Read: l.readable(u, s, v, judge), Write: l.writable(u, s, judge), Devices: devices,
		Sockets: l.sockets(u)}
	port := l.port[Checks]
	if u.turn() {
		port = l.port[Works]
	}
	if l.abi >= llNet {
		in.Connect = []uint16{port}
		in.From, in.To = servers()
		for _, at := range l.s.carried(u, s) {
			_, port, _ := net.SplitHostPort(at)
			if n, err := strconv.ParseUint(port, 10, 16); err == nil {
				in.Connect = append(in.Connect, uint16(n))
			}
		}
	}
	s.Env = inside.With(moved(l.s.environ(s, r), o.Home, r.home, v),
		inside.Proxied("127.0.0.1:"+strconv.Itoa(int(port))))
	s.Argv = append([]string{o.self}, in.Arguments(program, s.Argv)...)
	return proc.SandboxedCommand{Spec: s}, nil
}

// readable is what a use may read; judge says that it sees the tree of the checks.
func (l *landlocked) readable(u Use, s proc.Spec, v visiblePaths, judge bool) []string {
	o := l.s.o
	list := append(v.granted("/", 0), v.shown...)
	for _, link := range v.links {
		list = append(list, link[1])
	}
	list = append(list, o.self)
	if o.inTree(s.Dir) {
		list = append(list, l.s.borrowed...)
	}
	switch {
	case judge:
		list = append(list, o.Objects...)
	case l.readsTree(u, s):
		list = append(list, clone(o.Dir, o.Home))
	}
	list = append(list, l.agentFiles(u, Shown)...)
	if u != Setup && isDir(l.s.dirs(Setup).home) { // programs that it has installed there name their places
		list = append(list, l.s.dirs(Setup).home)
	}
	return list
}

// writable is what a use may write.
func (l *landlocked) writable(u Use, s proc.Spec, judge bool) []string {
	o, r := l.s.o, l.s.dirs(u)
	list := append([]string{r.home, r.cache, r.temp}, o.Writable...)
	if s.WritableDir != "" {
		list = append(list, s.WritableDir)
	}
	switch {
	case judge:
		list = slices.DeleteFunc(list, func(path string) bool { return over(clone(o.Dir, o.Home), path) })
		list = append(list, o.Judge)
	case !l.readsTree(u, s):
		top := clone(s.Dir, o.Home)
		list = append(list, top)
		if dir, common := linked(filepath.Join(top, ".git")); common != "" {
			list = append(list, dir, common)
		}
	}
	return append(list, l.agentFiles(u, Shared)...)
}

// readsTree reports whether a use may read the worktree and not write it.
func (l *landlocked) readsTree(u Use, s proc.Spec) bool { return u == Reads || !l.s.o.inTree(s.Dir) }

// agentFiles are the user's own files that an agent is given in this way.
func (l *landlocked) agentFiles(u Use, how Access) (paths []string) {
	for _, f := range l.s.given(u) {
		if f.Access == how {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// moved leads variables that name a place in the user's home, which cannot be read, to the same place in the
// box's own.
func moved(env []string, from, to string, v visiblePaths) []string {
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if rest, ok := strings.CutPrefix(value, from+"/"); ok && name != "PATH" && v.hides(value) &&
			!slices.ContainsFunc(v.shown, func(dir string) bool { return over(dir, value) }) {
			if at := filepath.Join(to, rest); exists(at) {
				env[i] = name + "=" + at
			}
		}
	}
	return env
}

// devices are those that anything may use. A disk is not among them.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
	"/dev/pts", "/dev/shm"}

// granted are the directories and files that may be read: everything, but what is hidden. A directory that holds
// something hidden is granted entry by entry.
func (v *visiblePaths) granted(dir string, deep int) (list []string) {
	if slices.Contains(v.hidden, dir) || slices.Contains(v.blank, dir) || dir == "/dev" {
		return nil
	}
	if !slices.ContainsFunc(append(v.hidden[:len(v.hidden):len(v.hidden)], v.blank...),
		func(path string) bool { return over(dir, path) }) {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || deep > 8 {
		return nil
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 { // its target is granted where it lies
			list = append(list, v.granted(filepath.Join(dir, e.Name()), deep+1)...)
		}
	}
	return list
}
