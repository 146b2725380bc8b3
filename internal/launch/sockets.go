package launch

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/work"
)

// Names of the sockets in a job's directory.
const (
	jobSocket    = "job"
	modelsSocket = "models"
)

// connectTime is how long a container may take until its process is there.
const connectTime = 2 * time.Minute

// sockets is the directory of one job, which its container alone has: one socket for the job, which takes one connection
// and is then gone, and one for its models.
type sockets struct {
	dir, name string
	job       net.Listener
	models    net.Listener // nil: there is none
	theirs    net.Conn     // the process's end of the job's connection
	joined    chan struct{}
}

// openSockets makes a job's directory below another, and waits there for the process, which gets theirs.
func openSockets(below string, theirs *os.File) (s *sockets, err error) {
	s = &sockets{joined: make(chan struct{})}
	if err = os.MkdirAll(below, 0o700); err == nil {
		s.dir, err = os.MkdirTemp(below, "")
	}
	if err != nil {
		return nil, fmt.Errorf("making the job's directory: %w", err)
	}
	s.name = filepath.Base(below) + "-" + filepath.Base(s.dir)
	if s.theirs, err = net.FileConn(theirs); err == nil {
		s.job, err = listenAt(s.dir, jobSocket)
	}
	if err != nil {
		if s.theirs != nil {
			_ = s.theirs.Close()
		}
		_ = os.RemoveAll(s.dir)
		return nil, fmt.Errorf("making the job's socket: %w", err)
	}
	_ = theirs.Close()
	go s.join()
	return s, nil
}

// join connects the first who comes with the job, and nobody else.
func (s *sockets) join() {
	defer close(s.joined)
	defer s.theirs.Close()
	conn, err := s.job.Accept()
	_ = s.job.Close()
	_ = os.Remove(filepath.Join(s.dir, jobSocket))
	if err != nil {
		return
	}
	work.Join(conn, s.theirs)
}

// carry leads a socket to where the job's models are.
func (s *sockets) carry(models net.Addr) (err error) {
	if s.models, err = listenAt(s.dir, modelsSocket); err != nil {
		s.close()
		return fmt.Errorf("making the socket of the job's models: %w", err)
	}
	go work.Serve(s.models, models.Network(), models.String())
	return nil
}

// close ends what is left, and removes the directory.
func (s *sockets) close() {
	_ = s.job.Close()
	if s.models != nil {
		_ = s.models.Close()
	}
	select {
	case <-s.joined:
	case <-time.After(hearTime): // its container is gone, so it ends by itself
		_ = s.theirs.Close()
	}
	_ = os.RemoveAll(s.dir)
}

// listenAt listens at a socket in a directory, however long that one's path is: a socket's own may have 100 bytes or so.
func listenAt(dir, name string) (net.Listener, error) {
	at, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	path := fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), name)
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		path = filepath.Join(dir, name)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // that name is another file's by then
	if name == jobSocket {
		err = l.SetDeadline(time.Now().Add(connectTime))
	}
	return l, errors.Join(err, os.Chmod(filepath.Join(dir, name), 0o600))
}
