package sandbox

import (
	"io/fs"
	"net"
	"os"

	"github.com/ralph-loop/ralph/internal/proc"
)

func received(*net.UnixConn, int) ([]*os.File, bool) { return nil, false }

func passable(string, *proc.User) bool { return false }

func hasOtherNames(fs.FileInfo) bool { return false }

func belongs(string, proc.User) bool { return false }
