package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileText is a file as it was.
type fileText struct {
	text []byte // nil: there was none
	mode fs.FileMode
}

// configFiles are where a clone's own configuration is.
func (t *Tree) configFiles() []string {
	return []string{filepath.Join(t.common(), "config"), filepath.Join(t.dir, "config.worktree")}
}

// noteConfig remembers a clone's configuration as it was before the agent ran.
func (t *Tree) noteConfig() error {
	t.config = map[string]fileText{}
	for _, file := range t.configFiles() {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading the clone's configuration: %w", err)
		}
		t.config[file] = fileText{text, 0o644}
		if info, err := os.Stat(file); err == nil {
			t.config[file] = fileText{text, info.Mode().Perm()}
		}
	}
	return nil
}

// keepConfig puts a clone's configuration back that was changed during the run: git runs the programs that it names, outside of the
// agent's sandbox. What it was changed to is kept beside the run's files.
func (t *Tree) keepConfig() error {
	for file, was := range t.config {
		now, err := os.ReadFile(file)
		if bytes.Equal(now, was.text) && (err == nil || was.text == nil) {
			continue
		}
		kept := filepath.Join(t.state, filepath.Base(file)+".changed")
		if err := os.WriteFile(kept, now, 0o600); err != nil {
			return fmt.Errorf("keeping the clone's configuration: %w", err)
		}
		if err = os.RemoveAll(file); err == nil && was.text != nil { // whatever lies there now, it is not written through
			err = os.WriteFile(file, was.text, was.mode)
		}
		if err != nil {
			return fmt.Errorf("putting the clone's configuration back: %w", err)
		}
		t.log("git: %s was changed during the run and is put back; the change is in %s", file, kept)
		t.told = append(t.told, "the clone's git configuration was changed and is put back")
	}
	return nil
}
