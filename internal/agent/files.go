package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// ready makes the directory of the turn's own, with the files that the agent's arguments and environment name. It is
// gone after remove. One that is carried is led to its gateway.
func (t *turnInput) ready() (remove func(), err error) {
	if t.way != nil {
		defer func() { t.env = append(t.env, t.dialect.gateway.reach(t)...) }()
	}
	if t.dialect.prepare == nil {
		return func() {}, nil
	}
	held, remove, err := proc.TempDir("")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the agent's files: %w", err)
	}
	t.dir = filepath.Join(held, "turn") // which may be another user's
	err = errors.Join(os.Chmod(held, 0o711), os.Mkdir(t.dir, 0o700))
	if err == nil {
		err = t.dialect.prepare(t)
	}
	if err == nil {
		err = t.hand()
	}
	if err != nil {
		remove()
		return nil, fmt.Errorf("writing the agent's files: %w", err)
	}
	return remove, nil
}

// hand gives the directory to the user whom the agent runs as.
func (t *turnInput) hand() error {
	if t.As == nil {
		return nil
	}
	return filepath.WalkDir(t.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(t.As.UID), int(t.As.GID))
	})
}

// file writes a file into the turn's directory.
func (t *turnInput) file(name, text string) error {
	return os.WriteFile(t.path(name), []byte(text), 0o600)
}

func (t *turnInput) path(name string) string { return filepath.Join(t.dir, name) }

// answerFile is where an agent leaves its last words that prints other things too.
const answerFile = "answer.txt"

// answer is the end of what the agent left in answerFile; "" when it left nothing. The agent may have put anything
// there: a link out of the directory, or a pipe without end.
func (t *turnInput) answer() string {
	if t.dir == "" {
		return ""
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	said, err := disk.ReadIn(root, answerFile, stream.MaxLine)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(safetext.LastBytes(string(said), claimBytes), "")
}
