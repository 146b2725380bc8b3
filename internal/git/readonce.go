package git

import (
	"sync"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Bounds of what is kept of files that were read: so many of them, each of at most so many bytes.
const (
	mostKnown      = 256
	mostKnownBytes = 16 << 10
)

// fullID matches a name that stands for one commit for ever.
var fullID = regex.Lazy(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// readKey is a question to a commit.
type readKey struct {
	commit, path string
	most         int
}

type readResult struct {
	content []byte
	ok      bool
}

// readResults are the answers that are kept. The zero value is empty. When it is full it begins anew.
type readResults struct {
	mu   sync.Mutex
	kept map[readKey]readResult
}

func (r *readResults) get(k readKey) (readResult, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.kept[k]
	return known, ok
}

func (r *readResults) put(k readKey, answer readResult) {
	if len(answer.content) > mostKnownBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || len(r.kept) >= mostKnown {
		r.kept = map[readKey]readResult{}
	}
	r.kept[k] = answer
}
