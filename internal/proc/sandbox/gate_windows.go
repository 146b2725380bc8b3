package sandbox

import (
	"net"
	"os"
)

func received(*net.UnixConn, int) ([]*os.File, error) { return nil, errHandover }
