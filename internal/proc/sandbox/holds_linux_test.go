package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/inside"
)

// nobody is a user without rights.
var nobody = proc.User{Name: "65534:65534", Home: "/", UID: 65534, GID: 65534}

// ground is a machine to be attacked: a home with a key, a clone, servers, another process.
type ground struct {
	targets
	dir, self string
	log       bytes.Buffer
}

func newGround(t *testing.T) *ground {
	t.Helper()
	tmp := os.TempDir()
	if strings.HasPrefix(tmp, "/dev/") { // which Landlock leaves open
		tmp = "/tmp"
	}
	dir := must(os.MkdirTemp(tmp, "ralph-sandbox-test-"))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	g := &ground{dir: dir, self: filepath.Join(dir, "ralph")}
	in := func(name string) string { return filepath.Join(dir, name) }
	g.Worktree, g.Home, g.Outside, g.Writable = in("home/src/clone"), in("home"), in("home/src/outside.txt"),
		in("writable")
	g.Neighbor = in("neighbor/.env")
	if os.Geteuid() == 0 { // where the system keeps nothing of its own
		srv := must(os.MkdirTemp("/srv", "ralph-sandbox-test-"))
		t.Cleanup(func() { _ = os.RemoveAll(srv) })
		g.Neighbor = filepath.Join(srv, ".env")
		everybody(t, srv)
	}
	g.Key, g.Login, g.Shown = in("home/.ssh/id_ed25519"), in("home/.agent/login.json"), in("home/.nvm/tool")
	for name, text := range map[string]string{
		g.Worktree + "/go.mod": "", g.Home + "/.cache/go-build/README": "", // so that a box mounts a cache
		g.Key: "a key", g.Neighbor: "a key of another", g.Login: "a login", g.Shown: "a tool", g.Worktree + "/file.txt": "text",
		g.Worktree + "/.git/config":       "[core]\n",
		g.Worktree + "/.git/hooks/sample": "", g.Worktree + "/.git/HEAD": "ref: refs/heads/main\n",
		g.Worktree + "/.git/objects/info/packs": "",
		g.Worktree + "/.ralph/settings.json":    "{}", g.Writable + "/file": "",
	} {
		put(t, name, text)
	}
	if err := os.WriteFile(g.self, must(os.ReadFile("/proc/self/exe")), 0o755); err != nil {
		t.Fatal(err)
	}
	everybody(t, dir)
	g.serve(t)
	g.victim(t)
	return g
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// everybody lets every user do everything there, so that only the box keeps one from it.
func everybody(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("chmod", "-R", "a+rwX", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// serve listens wherever a program could knock. TCP is on a port that no test would be given.
func (g *ground) serve(t *testing.T) {
	t.Helper()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	for _, address := range []*string{&g.Allowed, &g.Denied, &g.Carried} {
		s := httptest.NewUnstartedServer(ok)
		s.Listener = lowPort(t)
		s.Start()
		t.Cleanup(s.Close)
		*address = s.Listener.Addr().String()
	}
	l := lowPort(t)
	t.Cleanup(func() { l.Close() })
	g.TCP = l.Addr().String()
	u := must(net.ListenPacket("udp", "127.0.0.1:0"))
	t.Cleanup(func() { u.Close() })
	g.UDP = u.LocalAddr().String()
	go func() {
		for b := make([]byte, 16); ; {
			n, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = u.WriteTo(b[:n], from)
		}
	}()
	places := []string{g.dir + "/some.sock"}
	if os.Geteuid() == 0 { // as that of an engine of containers, in a directory that is seen
		places = append(places, fmt.Sprintf("/var/lib/ralph-sandbox-test-%d.sock", os.Getpid()))
	}
	for _, place := range places {
		s := must(net.Listen("unix", place))
		t.Cleanup(func() { s.Close() })
		if err := os.Chmod(place, 0o666); err != nil {
			t.Fatal(err)
		}
		g.Sockets = append(g.Sockets, place)
	}
}

// TestReachesOneAddress: an address that is for one process alone is reached by that one, and by none that comes after it.
func TestReachesOneAddress(t *testing.T) {
	for _, mode := range []string{Bwrap, Landlock} {
		t.Run(mode, func(t *testing.T) {
			if abi, _ := llsys.LandlockGetABIVersion(); mode == Landlock {
				need.That(t, "landlock for TCP", abi >= llNet)
			}
			g := newGround(t)
			o := g.options(mode, nil)
			o.Agents = nil
			s := g.open(t, o)
			for _, c := range []struct {
				use     Use
				address string
				want    string
			}{{Works, g.Carried, "open"}, {Reads, g.Carried, "open"}, {Works, "", "shut"}, {Checks, "", "shut"}} {
				found := g.attack(t, s.Box(c.use), nil, c.address)
				if got, _, _ := strings.Cut(found["the agent's model"], " "); got != c.want {
					t.Errorf("use %d, reaching %q: %s, want %s", c.use, c.address, found["the agent's model"], c.want)
				}
				for _, what := range []string{"direct TCP", "denied host"} {
					if found[what] == "open" {
						t.Errorf("use %d, reaching %q: %s is open", c.use, c.address, what)
					}
				}
			}
		})
	}
}

func lowPort(t *testing.T) net.Listener {
	t.Helper()
	for port := 20000 + os.Getpid()%5000; port < 32000; port++ {
		if l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l
		}
	}
	t.Fatal("no port is free")
	return nil
}

// victim starts a process with a secret in its environment.
func (g *ground) victim(t *testing.T) {
	t.Helper()
	c := exec.Command(g.self, "wait", "x")
	c.Env = []string{"PROBE_SECRET=1"}
	in, out := must(c.StdinPipe()), must(c.StdoutPipe())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = c.Wait() })
	must(out.Read(make([]byte, 4)))
	g.Victim = c.Process.Pid
}

func (g *ground) options(mode string, as *proc.User) Options {
	return Options{
		Mode: mode, Trees: Trees{Dir: g.Worktree}, Scratch: g.dir, Home: g.Home, As: as, Paths: Paths{Writable: []string{g.Writable}},
		Reach:  Reach{Network: []string{g.Allowed}},
		Parent: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home}, self: g.self,
		Agents: []Agent{{Hosts: []string{"localhost:" + port(g.Carried)}, Files: []File{{Path: ".agent/login.json"}}}},
		Log:    func(format string, args ...any) { fmt.Fprintf(&g.log, format+"\n", args...) },
	}
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}

func (g *ground) open(t *testing.T, o Options) *Sandbox {
	t.Helper()
	switch abi, _ := llsys.LandlockGetABIVersion(); o.Mode {
	case Bwrap:
		need.Program(t, "bwrap")
	case Landlock:
		need.That(t, "landlock", abi > 0)
	}
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatalf("%v\nIs bubblewrap installed (apt-get install bubblewrap), and may this user make namespaces (sysctl "+
			"kernel.apparmor_restrict_unprivileged_userns=0)?", err)
	}
	t.Cleanup(s.Close)
	return s
}

// attack runs the hostile program as a process that may reach an address of this machine, if any, and returns what was
// open and what was shut.
func (g *ground) attack(t *testing.T, b proc.Box, as *proc.User, address string) map[string]string {
	t.Helper()
	told, _ := json.Marshal(g.targets)
	var out, errs bytes.Buffer
	r, err := proc.Run(context.Background(), proc.Spec{
		Argv: []string{g.self, "probe", string(told)}, Dir: g.Worktree,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home}, As: as, Box: b, AllowedAddress: address,
		Stdout: &out, Stderr: &errs, Timeout: time.Minute,
	})
	if err != nil || r.Exit != 0 {
		t.Fatalf("%v %+v\n%s%s", err, r, out.String(), errs.String())
	}
	found := map[string]string{}
	for line := range strings.Lines(out.String()) {
		what, how, _ := strings.Cut(strings.TrimSpace(line), ": ")
		found[what] = how
	}
	return found
}

// What must be so in every box.
var (
	always = []string{
		"write the worktree", "write a file of the worktree", "write home", "write tmp", "write a cache",
		"write what is named", "read a tool in home",
		"write git objects", "loopback", "allowed host", "allowed host by CONNECT",
	}
	never = []string{
		"write outside", "write a tool in home", "read a key", "read a neighbor's file", "read another's environment", "signal another",
		"trace another", "mount", "write a sysctl",
		"make a device", "direct TCP", "denied host", "denied host by CONNECT",
	}
	// partly is what Landlock leaves open, with the version from which it does not. Of sockets, a filter takes its place.
	partly = map[string]int{
		"write git hooks": 99, "write git config": 99, "write where objects come from": 99, "move git away": 99,
		"write settings": 99,
		"UDP":            llUDP, "unix socket 0": llUnix, "unix socket 1": llUnix,
	}
)

// TestBoxesHold attacks the machine from within each box.
func TestBoxesHold(t *testing.T) {
	for _, as := range []*proc.User{nil, &nobody} {
		for _, mode := range []string{Bwrap, Landlock} {
			for _, u := range []Use{Checks, Works} {
				t.Run(fmt.Sprintf("%s/%s/%d", mode, userName(as), u), func(t *testing.T) {
					need.That(t, "root", as == nil || os.Geteuid() == 0) // nobody else can become another user
					g := newGround(t)
					s := g.open(t, g.options(mode, as))
					g.hold(t, g.attack(t, s.Box(u), as, ""), mode, u)
					if covers := s.Covers("cat: " + g.Neighbor + ": No such file or directory"); os.Geteuid() == 0 && covers != "/srv" {
						t.Errorf("covers %q", covers)
					}
					if n := strings.Count(g.log.String(), "the sandbox does not let anything speak to "+g.Denied); n != 1 {
						t.Errorf("the log tells %d times of %s:\n%s", n, g.Denied, g.log.String())
					}
				})
			}
		}
	}
}

// TestBoxAfterSomethingHasGone: a service that ended since the run began, with its socket, ends no turn.
func TestBoxAfterSomethingHasGone(t *testing.T) {
	g := newGround(t)
	s := g.open(t, g.options(Bwrap, nil))
	s.view.blank, s.view.hidden = append(s.view.blank, "/srv/gone.sock"), append(s.view.hidden, "/srv/gone")
	if said, end := g.runs(t, s.Box(Checks), g.Worktree, "sh", "-c", "exit 42"); end.Exit != 42 {
		t.Errorf("%+v\n%s", end, said)
	}
}

func userName(as *proc.User) string {
	switch {
	case as != nil:
		return "as another user"
	case os.Geteuid() == 0:
		return "root"
	}
	return "user"
}

func (g *ground) hold(t *testing.T, found map[string]string, mode string, u Use) {
	t.Helper()
	must := map[string]bool{"the agent's model": u == Works, "read a login": u == Works}
	for _, what := range always {
		must[what] = true
	}
	for _, what := range never {
		must[what] = false
	}
	abi, _ := llsys.LandlockGetABIVersion()
	for what, from := range partly {
		must[what] = mode == Landlock && abi < from && (from != llUDP && from != llUnix || !inside.KnowsSockets())
	}
	if found["write outside"] == "open" { // into a home that is thrown away
		if _, err := os.Stat(g.Outside); err != nil {
			found["write outside"] = "shut: nothing is there"
		}
	}
	for what, open := range must {
		how, tried := found[what]
		if !tried && strings.HasPrefix(what, "unix socket 1") && os.Geteuid() != 0 {
			continue
		}
		if strings.HasPrefix(how, "open") != open || !tried {
			t.Errorf("%s: %q, want open %t", what, how, open)
		}
	}
	for what := range found {
		if _, known := must[what]; !known {
			t.Errorf("%s: nothing is known of this probe", what)
		}
	}
}

// TestBoxesHoldForAnybody runs the same as a user without rights who runs ralph.
func TestBoxesHoldForAnybody(t *testing.T) {
	need.That(t, "root", os.Geteuid() == 0) // for anybody else, TestBoxesHold is that
	need.Program(t, "bwrap")
	g := newGround(t)
	c := exec.Command(g.self, "-test.run", "^(TestBoxesHold|TestSignalsReachWhatIsKept)$", "-test.v")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home, "TMPDIR=" + g.dir}
	c.Dir = g.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody.UID, Gid: nobody.GID}}
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestBoxesHold/bwrap/user/0")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWithoutABox shows that the probes find what is open when nothing keeps them from it.
func TestWithoutABox(t *testing.T) {
	g := newGround(t)
	found := g.attack(t, nil, nil, "")
	for _, what := range []string{"write outside", "read a key", "read a login", "write git hooks", "write git config",
		"write settings", "read another's environment",
		"signal another", "trace another", "direct TCP", "UDP", "unix socket 0", "move git away", "the agent's model",
		"write where objects come from"} {
		if found[what] != "open" {
			t.Errorf("%s: %s", what, found[what])
		}
	}
}

// TestSignalsReachWhatIsKept: what is in a box is asked to end, and has its time; its keepers end with it.
func TestSignalsReachWhatIsKept(t *testing.T) {
	for _, mode := range []string{Bwrap, Landlock} {
		for _, signal := range []string{"INT", "TERM"} {
			t.Run(mode+" "+signal, func(t *testing.T) {
				g := newGround(t)
				s := g.open(t, g.options(mode, nil))
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var out bytes.Buffer
				spec := proc.Spec{
					Argv: []string{"sh", "-c", `trap 'echo asked; exit 7' ` + signal +
						`; setsid sleep 1000 & echo ready; while :; do sleep 0.05; done`},
					Dir: g.Worktree, Env: []string{"PATH=" + os.Getenv("PATH")}, Box: s.Box(Checks), Ending: proc.Ending{Grace: 20 * time.Second},
					Stdout: io.MultiWriter(&out, when("ready", cancel)),
				}
				if signal == "INT" {
					spec.Interrupt = 20 * time.Second
				}
				r, err := proc.Run(ctx, spec)
				if err != nil || r.Class != proc.Canceled || r.Exit != 7 || out.String() != "ready\nasked\n" {
					t.Errorf("%+v %v %q", r, err, out.String())
				}
			})
		}
	}
}

// when does something once a text is written.
func when(text string, do func()) io.Writer { return &trigger{text, do, ""} }

type trigger struct {
	text string
	do   func()
	seen string
}

func (w *trigger) Write(p []byte) (int, error) {
	if w.seen += string(p); strings.Contains(w.seen, w.text) {
		w.do()
	}
	return len(p), nil
}

// TestHowItEnded: exit codes, signals and programs that are not there are told as without a box.
func TestHowItEnded(t *testing.T) {
	for _, mode := range []string{Bwrap, Landlock} {
		t.Run(mode, func(t *testing.T) { howItEnded(t, newGround(t), mode) })
	}
}

func howItEnded(t *testing.T, g *ground, mode string) {
	put(t, g.Worktree+"/bad", "#!/no/such/interpreter\n")
	everybody(t, g.Worktree)
	if err := errors.Join(os.Chmod(g.Worktree+"/file.txt", 0o644), os.Chmod(g.Worktree+"/bad", 0o755)); err != nil {
		t.Fatal(err)
	}
	s := g.open(t, g.options(mode, nil))
	for _, c := range []struct {
		argv []string
		want proc.Result
	}{
		{[]string{"sh", "-c", "exit 5"}, proc.Result{Class: proc.Exited, Exit: 5}},
		{[]string{"sh", "-c", "exit 137"}, proc.Result{Class: proc.Exited, Exit: 137}},
		{[]string{"no-such-program"}, proc.Result{Class: proc.NotFound, Exit: -1}},
		{[]string{"./file.txt"}, proc.Result{Class: proc.NotExecutable, Exit: -1}},
		{[]string{"env", "sh", "-c", "kill -9 $$; sleep 9"}, proc.Result{Class: proc.Signalled, Exit: -1, Signal: "SIGKILL"}},
		{[]string{"./bad"}, proc.Result{Class: proc.Exited, Exit: 127}},
	} {
		if _, r := g.runs(t, s.Box(Checks), g.Worktree, c.argv...); r != c.want {
			t.Errorf("%v: %+v, want %+v", c.argv, r, c.want)
		}
	}
	// a namespace of users, which only checks may make, and only where somebody has said so
	for _, allowed := range []bool{false, true} {
		s.o.Userns = allowed
		for u, want := range map[Use]bool{Checks: allowed, Works: false, Reads: false} {
			if _, r := g.runs(t, s.Box(u), g.Worktree, "unshare", "--user", "true"); (r.Exit == 0) != want {
				t.Errorf("allowed: %t, %d makes a namespace of users: %+v", allowed, u, r)
			}
		}
	}
}

// runs runs a program somewhere in a box, and returns what it has printed and how it ended.
func (g *ground) runs(t *testing.T, in proc.Box, dir string, argv ...string) (string, proc.Result) {
	t.Helper()
	var out bytes.Buffer
	r, err := proc.Run(t.Context(), proc.Spec{Argv: argv, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")},
		Box: in, Stdout: &out, Stderr: &out, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r.Duration = 0
	return out.String(), r
}

// TestReaders: who reads has a checkout of its own, or the tree, and writes neither; where it works shows nothing else
// of the machine.
func TestReaders(t *testing.T) {
	for _, mode := range []string{Bwrap, Landlock} {
		t.Run(mode, func(t *testing.T) {
			g := newGround(t)
			checkout := filepath.Join(g.dir, "review-1")
			put(t, checkout+"/file.txt", "text")
			put(t, checkout+"/.git/objects/info/alternates", g.Worktree+"/.git/objects\n")
			put(t, g.Worktree+"/.git/objects/pack/p", "an object")
			everybody(t, g.dir)
			s := g.open(t, g.options(mode, nil))
			for _, c := range []struct {
				u               Use
				dir, line, want string
			}{
				{Reads, checkout, `cat file.txt; cat ` + g.Worktree + `/.git/objects/pack/p`, "textan object"},
				{Reads, checkout, `echo x > new.txt || echo no`, "no\n"},
				{Reads, checkout, `echo x > ` + g.Worktree + `/file.txt || echo no`, "no\n"},
				{Reads, g.Worktree, `cat file.txt; echo x > file.txt || echo no`, "textno\n"},
				{Works, checkout, `echo x > new.txt || echo no`, "no\n"},
				{Works, "/", `cat ` + g.Key + ` || echo no`, "no\n"},
				{Checks, g.Home, `cat ` + g.Key + ` || echo no`, "no\n"},
				{Checks, g.dir, `cat ` + g.Key + ` || echo no`, "no\n"},
			} {
				if out, r := g.runs(t, s.Box(c.u), c.dir, "sh", "-c", "{ "+c.line+"; } 2>/dev/null"); out != c.want {
					t.Errorf("%d in %s: %s: %q, want %q (%+v)", c.u, c.dir, c.line, out, c.want, r)
				}
			}
		})
	}
}

// say runs a line of the shell in a box, and returns what it has printed.
func (g *ground) say(t *testing.T, s *Sandbox, u Use, line string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := proc.Run(context.Background(), proc.Spec{Argv: []string{"sh", "-c", line}, Dir: g.Worktree,
		Env: []string{"PATH=" + os.Getenv("PATH"), "GOCACHE=/elsewhere"}, Box: s.Box(u), As: s.o.As, Stdout: &out,
		Stderr: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// plain is a step without what it says of the home of the checks.
func plain(step func() (bool, error)) func() error {
	return func() error { _, err := step(); return err }
}

// TestHomesBeginClean: every home begins as what the setup has left on the base commit, and none as what somebody else
// has left in theirs.
func TestHomesBeginClean(t *testing.T) {
	const look = `for f in ~/from-*; do if [ -e "$f" ]; then basename "$f"; fi; done
test -x ~/link && test ! -e ~/pipe && echo tool`
	for _, as := range []*proc.User{nil, &nobody} {
		for _, mode := range []string{Bwrap, Landlock} {
			t.Run(mode+"/"+userName(as), func(t *testing.T) {
				need.That(t, "root", as == nil || os.Geteuid() == 0)
				g := newGround(t)
				s := g.open(t, g.options(mode, as))
				do := map[string]func() error{"seal": plain(s.SealHome), "renew": s.RenewHome, "fresh": plain(s.FreshHome)}
				for i, c := range []struct {
					u          Use
					first      string // what ralph does before
					line, want string
				}{
					{Setup, "", `mkdir -p ~/.tool && echo '#!/bin/sh' > ~/.tool/run && chmod +x ~/.tool/run
ln -s .tool/run ~/link && mkfifo ~/pipe; touch ~/from-setup`, ""},
					{SetupForAgent, "seal", look + "\ntouch ~/from-its-setup", "from-setup\ntool\n"},
					{Checks, "", look + "\ntouch ~/from-check", "from-setup\ntool\n"},
					{Works, "", look + "\ntouch ~/from-agent", "from-its-setup\nfrom-setup\ntool\n"},
					{Reads, "", look + "\ntouch ~/from-reader", "from-setup\ntool\n"},
					{Checks, "", look, "from-check\nfrom-setup\ntool\n"},
					{Checks, "fresh", look, "from-setup\ntool\n"},
					{Checks, "renew", look + "\ntouch ~/from-later-setup", ""},
					{Checks, "", look, "from-later-setup\n"},
					{Checks, "fresh", look, "from-setup\ntool\n"},
					{Reads, "", look, "from-setup\ntool\n"},
					{Works, "", look, "from-agent\nfrom-its-setup\nfrom-setup\ntool\n"},
				} {
					if c.first != "" {
						if err := do[c.first](); err != nil {
							t.Fatal(err)
						}
					}
					if got := g.say(t, s, c.u, c.line); got != c.want {
						t.Errorf("step %d, %d: %q, want %q", i, c.u, got, c.want)
					}
				}
				if r, err := proc.Run(context.Background(), proc.Spec{Argv: []string{"true"}, Dir: g.Worktree, As: as,
					Env: []string{"PATH=" + os.Getenv("PATH")}, Box: s.Box(Setup)}); err == nil {
					t.Errorf("something runs in the home that all others begin with: %+v", r)
				}
			})
		}
	}
}

// TestLargeHomes: what is too much to copy nobody has, and the checks are said to lack it.
func TestLargeHomes(t *testing.T) {
	g := newGround(t)
	s := g.open(t, g.options(Bwrap, nil))
	g.say(t, s, Setup, fmt.Sprintf("truncate -s %d ~/large; touch ~/small", int64(mostInherited)+1))
	for _, again := range []func() (bool, error){s.SealHome, s.FreshHome} {
		if bare, err := again(); err != nil || !bare {
			t.Fatalf("the home of the checks is said to have it: %v", err)
		}
		for _, u := range []Use{Checks, Works, Reads} {
			if got := g.say(t, s, u, "ls ~"); strings.Contains(got, "small") {
				t.Errorf("%d has %q", u, got)
			}
		}
	}
	if !strings.Contains(g.log.String(), "too much to copy") {
		t.Errorf("nobody is told:\n%s", g.log.String())
	}
}

// hostile is what somebody leaves in their home and cache who wants others to write elsewhere: links that lead to this
// machine, as bubblewrap sees it while it makes a box too.
const hostile = `for d in OUT /oldroot/OUT; do
for f in .gitconfig .agent .linked .nvm .cargo .cache; do
rm -rf ~/$f 2>/dev/null || mv ~/$f ~/was$f 2>/dev/null; ln -s $d ~/$f 2>/dev/null; done
for f in browsers go-build cargo go gradle npm; do rm -rf @/$f; ln -s $d @/$f; done
done
mkdir -p ~/mounted && mount --bind OUT ~/mounted && touch ~/mounted/new`

// TestNothingFollowsLinksInHomes: whatever a use leaves in its home, nothing is written, made or removed outside of it,
// by ralph or by what makes the boxes.
func TestNothingFollowsLinksInHomes(t *testing.T) {
	for _, mode := range []string{Bwrap, Landlock} {
		for _, u := range []Use{Setup, Checks, Works, Reads} {
			t.Run(fmt.Sprintf("%s/%d", mode, u), func(t *testing.T) {
				g := newGround(t)
				out := filepath.Join(g.dir, "out")
				put(t, out+"/precious", "kept")
				put(t, g.Home+"/.nvm/versions/tool", "a tool")
				put(t, g.Home+"/.cargo/bin/tool", "a tool")
				if err := os.Symlink(g.Home+"/.nvm", g.Home+"/.bun"); err != nil { // a link that every box has, not only the first
					t.Fatal(err)
				}
				everybody(t, g.dir)
				o := g.options(mode, nil)
				o.Agents[0].Files = append(o.Agents[0].Files, File{Path: ".agent/shown.json", Access: Shown},
					File{Path: ".agent/copied.json", Access: Copied}, File{Path: ".gitconfig", Access: Copied})
				put(t, g.Home+"/.agent/shown.json", "shown")
				put(t, g.Home+"/.agent/copied.json", "copied")
				s := g.open(t, o)
				g.say(t, s, Setup, "mkdir -p ${GOCACHE%/*}/browsers; touch ${GOCACHE%/*}/browsers/one")
				plant := strings.NewReplacer(" OUT", " "+out, "/OUT", out, "@", "${GOCACHE%/*}").Replace(hostile)
				if u != Setup {
					if _, err := s.SealHome(); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					g.say(t, s, u, plant)
					for _, do := range []func() error{plain(s.SealHome), s.SealCaches, plain(s.FreshHome), s.RenewHome} {
						if err := do(); err != nil {
							t.Fatal(err)
						}
					}
					if u == Setup {
						u = Checks
					}
					for _, next := range []Use{Checks, Works, Reads} {
						want := "shown"
						if next == Checks {
							want = ""
						}
						if got := g.say(t, s, next, "cat ~/.agent/shown.json 2>/dev/null"); got != want {
							t.Errorf("%d finds %q, want %q", next, got, want)
						}
					}
				}
				left, err := os.ReadDir(out)
				if text, _ := os.ReadFile(out + "/precious"); err != nil || len(left) != 1 || string(text) != "kept" {
					t.Errorf("outside there is %v (%q, %v)", left, text, err)
				}
			})
		}
	}
}

// TestLinkedWorktrees: the clone that a worktree belongs to is written only when the two agree on it: anybody can write
// a file that points to somebody's home.
func TestLinkedWorktrees(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	tree, clone := filepath.Join(dir, "tree"), filepath.Join(dir, "clone", ".git")
	own := filepath.Join(clone, "worktrees", "tree")
	for _, c := range []struct{ what, file, back, common, want string }{
		{"as git makes it", own, tree + "/.git", "../..", clone},
		{"a home", filepath.Join(dir, "home"), "", "", ""},
		{"of another worktree", own, dir + "/other/.git", "../..", ""},
		{"a clone further up", own, tree + "/.git", "../../../..", ""},
		{"a clone elsewhere", own, tree + "/.git", dir + "/home", ""},
	} {
		put(t, tree+"/.git", "gitdir: "+c.file+"\n")
		put(t, dir+"/home/.ssh/id", "x")
		put(t, dir+"/other/.git", "x")
		if c.back != "" {
			put(t, own+"/gitdir", c.back+"\n")
			put(t, own+"/commondir", c.common+"\n")
		}
		if _, got := linked(tree + "/.git"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
