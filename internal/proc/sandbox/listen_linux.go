package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// mostSocketPath is how long the path of a socket may be.
const mostSocketPath = 100

// listenIn listens at a socket in a directory. The system takes only short paths: a long one is gone to by the
// directory's descriptor.
func listenIn(dir, name string) (net.Listener, error) {
	path := filepath.Join(dir, name)
	if len(path) <= mostSocketPath {
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
