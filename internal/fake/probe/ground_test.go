//go:build linux && e2e

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

// secrets are made up. The one of the model is what the stand-in for it takes.
var secrets = map[string]string{
	"model": "made-up-key-of-the-model-01234567", "github": "ghs_madeUpTokenOfTheJob0123456789abcdef",
	"ssh": "made-up-key-for-ssh", "login": "made-up-login-of-the-agent", "logins": "made-up-login-elsewhere",
	"victim": "made-up-secret-of-a-process", "keyring": "made-up-secret-of-the-kernel",
	"memory": "made-up-secret-in-shared-memory", "event": "made-up-text-of-the-event",
	"checkout": "made-up-token-of-the-checkout", "included": "made-up-token-beside-the-checkout",
	"step": "made-up-secret-of-a-step", "commands": "made-up-secret-for-later-steps",
	"runner": "made-up-login-of-the-runner", "runnerhome": "made-up-login-in-the-home-of-the-runner",
}

// nobody is a user without rights.
const nobody = 65534

// programs builds ralph and the probe, once.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir = os.Getenv("RALPH_PROBE_PROGRAMS"); dir != "" { // built before
		return dir, nil
	}
	if dir, err = os.MkdirTemp("", "ralph-probe-programs-"); err != nil {
		return "", err
	}
	for name, from := range map[string]string{"ralph": "../../../cmd/ralph", "probe": "."} {
		c := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name), from)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := programs(); dir != "" && dir != os.Getenv("RALPH_PROBE_PROGRAMS") {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// ground is a machine to be attacked.
type ground struct {
	targets
	uid   int
	model *model.Server
}

func (g *ground) in(name string) string { return filepath.Join(g.Base, name) }

// newGround makes a place that everybody sees where nothing hides it, which is below /opt when we are root.
func newGround(t *testing.T, uid int) *ground {
	t.Helper()
	parent := ""
	if os.Geteuid() == 0 {
		parent = "/opt"
	}
	base := must[string](t)(os.MkdirTemp(parent, "ralph-probe-"))
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	// What the agent of another user has left where everybody writes is in the way of this one's, or only seems to be.
	unmark()
	t.Cleanup(unmark)
	noError(t, os.Chmod(base, 0o755))
	g := &ground{uid: uid}
	g.Base, g.Secrets, g.Abstract = base, map[string][]byte{}, "probe-"+filepath.Base(base)
	g.Home, g.Temp, g.Reports = g.in("home"), g.in("tmp"), g.in("reports")
	for name, value := range secrets {
		g.Secrets[name] = veil([]byte(value))
	}
	for path, text := range map[string]string{"outside.txt": "text", "tmp/": "", "reports/": ""} {
		g.put(t, path, text)
	}
	g.furnish(t)
	g.install(t)
	g.serve(t)
	g.victim(t)
	g.inKernel(t)
	g.model = model.New(model.Turn{Text: "Hello."})
	g.model.Key = secrets["model"]
	t.Cleanup(g.model.Close)
	return g
}

// unmark removes what agents have left where everybody may write.
func unmark() {
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", os.TempDir()} {
		_ = os.Remove(filepath.Join(dir, mark))
	}
}

// furnish puts into the home of ralph's user what people have there.
func (g *ground) furnish(t *testing.T) {
	t.Helper()
	for path, text := range map[string]string{
		".ssh/id_ed25519": secrets["ssh"], ".claude/.credentials.json": `{"accessToken":"` + secrets["login"] + `"}`,
		".claude.json": `{"primaryApiKey":"` + secrets["login"] + `"}`, ".netrc": secrets["logins"],
		".git-credentials": secrets["logins"], ".docker/config.json": secrets["logins"],
		".aws/credentials": secrets["logins"], ".config/gh/hosts.yml": secrets["logins"],
		".bashrc": "", "bin/tool": "#!/bin/sh\n",
		".cache/go-build/README": "", ".local/state/ralph/": "",
		".gitconfig": "[user]\n\tname = A\n\temail = a@example.com\n",
	} {
		g.put(t, g.Home+"/"+path, text)
	}
}

func (g *ground) put(t *testing.T, path, text string) {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = g.in(path) + path[len(strings.TrimSuffix(path, "/")):]
	}
	if strings.HasSuffix(path, "/") {
		noError(t, os.MkdirAll(path, 0o755))
		return
	}
	noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	noError(t, os.WriteFile(path, []byte(text), 0o644))
}

// install puts the programs where ralph finds them, and everybody can run them.
func (g *ground) install(t *testing.T) {
	t.Helper()
	from := must[string](t)(programs())
	for to, name := range map[string]string{"bin/ralph": "ralph", "tools/probe": "probe", "tools/claude": "probe"} {
		program := must[[]byte](t)(os.ReadFile(filepath.Join(from, name)))
		g.put(t, to, string(program))
		noError(t, os.Chmod(g.in(to), 0o755))
	}
	if os.Geteuid() == 0 { // a program that is root's
		g.Setuid = g.in("setuid-id")
		program := must[[]byte](t)(os.ReadFile("/usr/bin/id"))
		g.put(t, g.Setuid, string(program))
	}
}

// tell tells the probe what there is.
func (g *ground) tell(t *testing.T) {
	t.Helper()
	g.Inodes = map[string]uint64{}
	for _, top := range []string{g.Base, g.Runner.Top} {
		_ = filepath.WalkDir(top, func(path string, _ fs.DirEntry, _ error) error {
			var stat unix.Stat_t
			if unix.Lstat(path, &stat) == nil {
				g.Inodes[path], g.Device = stat.Ino, stat.Dev
			}
			return nil
		})
	}
	text := must[[]byte](t)(json.Marshal(g.targets))
	g.put(t, "tools/probe.json", string(text))
}

// ready gives everything to whom ralph runs as.
func (g *ground) ready(t *testing.T) {
	t.Helper()
	for _, dir := range []string{g.Base, g.Runner.Top} {
		if dir == "" || os.Geteuid() != 0 {
			continue
		}
		if out, err := exec.Command("chown", "-R", fmt.Sprintf("%d:%d", g.uid, g.uid), dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	modes := map[string]os.FileMode{g.Base: 0o755, g.Reports: 0o777, g.Temp: 0o777 | os.ModeSticky}
	if g.Setuid != "" {
		noError(t, os.Chown(g.Setuid, 0, 0))
		modes[g.Setuid] = 0o755 | os.ModeSetuid
	}
	for path, mode := range modes {
		noError(t, os.Chmod(path, mode))
	}
}

// serve listens wherever a program could knock.
func (g *ground) serve(t *testing.T) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "probe-server")
	}))
	s.Listener = lowPort(t)
	s.Start()
	t.Cleanup(s.Close)
	g.TCP = s.Listener.Addr().String()
	late := must[net.Listener](t)(net.Listen("tcp4", "127.0.0.1:0"))
	t.Cleanup(func() { late.Close() })
	g.Late = late.Addr().String()
	u := must[net.PacketConn](t)(net.ListenPacket("udp", "127.0.0.1:0"))
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
	for _, name := range []string{g.in("some.sock"), "@" + g.Abstract} {
		l := must[net.Listener](t)(net.Listen("unix", name))
		t.Cleanup(func() { l.Close() })
	}
	noError(t, os.Chmod(g.in("some.sock"), 0o666))
	g.Socket = g.in("some.sock")
}

// lowPort is a server at a port that the system gives to nobody.
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

// victim starts a process of the same user with a secret in its environment.
func (g *ground) victim(t *testing.T) {
	t.Helper()
	c := exec.Command(g.in("tools/probe"), "victim")
	in := must[io.WriteCloser](t)(c.StdinPipe())
	c.Env = []string{"PROBE_SECRET=" + secrets["victim"], "PROBE_KEYRING=" + secrets["keyring"],
		"PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = g.as()
	c.SysProcAttr.Setpgid = true
	noError(t, c.Start())
	t.Cleanup(func() { in.Close(); _ = c.Wait() })
	g.Victim = c.Process.Pid
}

// as is how a process becomes the user whom the machine belongs to.
func (g *ground) as() *syscall.SysProcAttr {
	if os.Geteuid() != 0 || g.uid == 0 {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(g.uid), Gid: uint32(g.uid)}}
}

// terminal is one of ralph's own, with its user at it.
func (g *ground) terminal(t *testing.T, c *exec.Cmd) {
	t.Helper()
	master := must[*os.File](t)(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	noError(t, err)
	slave := must[*os.File](t)(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))
	t.Cleanup(func() { slave.Close() })
	noError(t, slave.Chown(g.uid, -1))
	c.Stdin, c.SysProcAttr.Setsid, c.SysProcAttr.Setctty = slave, true, true
}

// inKernel leaves a secret in shared memory, which everybody of this machine may read.
func (g *ground) inKernel(t *testing.T) {
	t.Helper()
	id := must[int](t)(unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o666))
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	b := must[[]byte](t)(unix.SysvShmAttach(id, 0, 0))
	copy(b, secrets["memory"])
	_ = unix.SysvShmDetach(b)
	g.Memory = id
}
