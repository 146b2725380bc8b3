package journal

import "os"

// keep does nothing: the locks of this system do not say whose they are.
func keep(string) (release func()) { return func() {} }

// has believes what the lock says, if such a process lives.
func has(_ *os.File, pid int) (holds, elsewhere bool) { return alive(pid), false }
