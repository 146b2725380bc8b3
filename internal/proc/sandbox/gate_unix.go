//go:build unix

package sandbox

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// received are the files that someone sends, which must be so many listeners.
func received(c *net.UnixConn, want int) (files []*os.File, err error) {
	told := make([]byte, unix.CmsgSpace(4*want))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), told)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(told[:n])
	if err != nil || len(messages) != 1 {
		return nil, errHandover
	}
	rights, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	for _, fd := range rights {
		unix.CloseOnExec(fd)
		files = append(files, os.NewFile(uintptr(fd), "box"))
	}
	if len(files) != want {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, errHandover
	}
	return files, nil
}
