package git

import (
	"fmt"
	"os"
	"time"
)

// settle clears away what an agent or a killed git left in the way of our own commands.
func (t *Tree) settle() error {
	t.unlock()
	if !t.bot {
		return t.keepConfig()
	}
	if info, err := os.Lstat(t.work); err == nil && info.IsDir() {
		return nil
	}
	if err := os.RemoveAll(t.work); err != nil { // a link instead of the working tree leads elsewhere
		return fmt.Errorf("making the working tree again: %w", err)
	}
	if err := os.Mkdir(t.work, 0o755); err != nil {
		return fmt.Errorf("making the working tree again: %w", err)
	}
	return t.own(".")
}

// unlock removes the lock on the index that a killed git left. The bot's index is used by nobody else. In a clone the user's own git
// may hold it for a moment, so there it must be there for a while.
func (t *Tree) unlock() {
	lock := t.index + ".lock"
	for wait := 0; ; wait++ {
		info, err := os.Lstat(lock)
		if err != nil {
			return
		}
		if t.bot || wait == 20 || time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(lock) // what is still in the way is told by the next command
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
