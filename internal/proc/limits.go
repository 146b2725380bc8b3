package proc

import (
	"fmt"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Limits are what a process may take, together with everything that it starts. 0 of any: as much as there is.
type Limits struct {
	Processes int   // processes and their threads, at once
	Memory    int64 // bytes
	// Disk is by how many bytes it may fill a file system further, and how large a file may be.
	Disk   int64
	Output int64 // bytes that it prints
	// Dirs are where it writes, besides the directory that it runs in and Spec.Own.
	Dirs []string
}

// MostOfUser is how many processes the system lets a user have whose limit is so many: enough for us to see that it is
// too much.
func MostOfUser(processes int) uint64 { return uint64(processes + processes/4 + 64) }

// Limit is one of Limits, by the name of its setting.
type Limit string

// The limits that a process is stopped at. Elsewhere than on Linux, that is LimitOutput alone.
const (
	LimitProcesses Limit = "limits.processes"
	LimitMemory    Limit = "limits.memory"
	LimitDisk      Limit = "limits.disk"
	LimitOutput    Limit = "limits.output"
)

// limitExceeded is a limit that was passed, and how: "it had more than 4096 processes".
type limitExceeded struct {
	limit Limit
	what  string
}

// why is the sentence of Result.Why.
func (e limitExceeded) why() string {
	return fmt.Sprintf("was stopped: %s (the setting %s): see what it did, or raise that setting", e.what, e.limit)
}

// meter counts what a process prints.
type meter struct {
	most    int64
	printed atomic.Int64
	over    chan<- limitExceeded // hears once that it was too much, and must have room for it
}

// allowed returns the part of a piece of output that is still within the limit.
func (m *meter) allowed(piece []byte) []byte {
	if m.most <= 0 {
		return piece
	}
	now := m.printed.Add(int64(len(piece)))
	before := now - int64(len(piece))
	if now > m.most && before <= m.most {
		m.over <- limitExceeded{LimitOutput, "it printed more than " + safetext.Bytes(m.most)}
	}
	return piece[:max(0, min(int64(len(piece)), m.most-before))]
}

func tooMany(l Limits) limitExceeded {
	return limitExceeded{LimitProcesses, fmt.Sprintf("it had more than %d processes and threads", l.Processes)}
}

func tooMuch(l Limits) limitExceeded {
	return limitExceeded{LimitMemory, fmt.Sprintf("it took more than %s of memory", safetext.Bytes(l.Memory))}
}
