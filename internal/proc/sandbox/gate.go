package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-loop/ralph/internal/proc"
)

// listenerSocket is where one box hands its listeners over.
type listenerSocket struct {
	dir     string   // holds the socket "sock"
	carried []string // the addresses of this machine that it reaches
	socket  net.Listener
	mu      sync.Mutex
	done    bool
	open    []net.Listener
}

// open makes the gate of a new box.
func (s *Sandbox) open(u Use, of proc.Spec) (*listenerSocket, error) {
	g := &listenerSocket{carried: s.carried(u, of), dir: filepath.Join(s.scratch, "gate"+strconv.FormatInt(s.counter.Add(1), 10))}
	err := os.Mkdir(g.dir, 0o700)
	if err == nil {
		g.socket, err = listenIn(g.dir, "sock")
	}
	if err == nil {
		err = s.giveAll(g.dir)
	}
	if err != nil {
		g.close()
		return nil, err
	}
	go g.take(s.gate(u))
	return g, nil
}

// gate is what lets a use out.
func (s *Sandbox) gate(u Use) *egress {
	if u.turn() {
		return s.gates[Works]
	}
	return s.gates[Checks]
}

// Refused are the hosts that a use has asked for so far and may not speak to, sorted: "registry.example.com", with its
// port where that is no usual one. Where the gate is not ours, no one knows.
func (s *Sandbox) Refused(u Use) []string {
	if s == nil || s.gate(u) == nil {
		return nil
	}
	return s.gate(u).refused()
}

// carried are the addresses of this machine that a process of a use reaches, and clients never ask a proxy for: those
// of models, and the one that is for this process alone.
func (s *Sandbox) carried(u Use, of proc.Spec) (list []string) {
	if of.AllowedAddress != "" {
		list = append(list, of.AllowedAddress)
	}
	if !u.turn() {
		return list
	}
	for _, host := range s.o.hosts() {
		name, port, err := net.SplitHostPort(host)
		if err == nil && (name == "localhost" || name == "127.0.0.1") && !slices.Contains(list, "127.0.0.1:"+port) {
			list = append(list, "127.0.0.1:"+port)
		}
	}
	return list
}

// take takes the listeners of the box, once: one for each address that is carried, and the last for the proxy.
func (g *listenerSocket) take(e *egress) {
	c, err := g.socket.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	_ = g.socket.Close() // what comes later is not ours
	files, ok := received(c.(*net.UnixConn), 1+len(g.carried))
	if !ok {
		return // the box says that no one has answered
	}
	for i, f := range files {
		l, err := net.FileListener(f)
		_ = f.Close()
		if err != nil || !g.keep(l) {
			return
		}
		if i < len(g.carried) {
			go carry(l, g.carried[i])
		} else {
			go e.serve(l)
		}
	}
	_, _ = c.Write([]byte{1})
}

func (g *listenerSocket) keep(l net.Listener) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done {
		_ = l.Close()
		return false
	}
	g.open = append(g.open, l)
	return true
}

// close ends what the box has used.
func (g *listenerSocket) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done = true
	if g.socket != nil {
		_ = g.socket.Close()
	}
	for _, l := range g.open {
		_ = l.Close()
	}
	_ = os.RemoveAll(g.dir)
}

// mostSocketPath is how long the path of a socket may be.
const mostSocketPath = 100

// listenIn listens at a socket in a directory. The system takes only short paths: a long one is gone to by the
// directory's descriptor.
func listenIn(dir, name string) (net.Listener, error) {
	path := filepath.Join(dir, name)
	if len(path) <= mostSocketPath || runtime.GOOS != "linux" {
		return net.Listen("unix", path)
	}
	at, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), name))
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by that path it would be another file by then
	return l, nil
}
