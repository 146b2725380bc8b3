//go:build !linux

package sandbox

import (
	"net"
	"path/filepath"
)

// listenIn listens at a socket in a directory.
func listenIn(dir, name string) (net.Listener, error) {
	return net.Listen("unix", filepath.Join(dir, name))
}
