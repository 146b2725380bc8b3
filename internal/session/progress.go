package session

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
)

const (
	progressFile  = "progress.json" // in the run's directory, while a process works on the run
	progressEvery = 250 * time.Millisecond
	maxProgress   = 64 << 10
)

// WriteProgress writes what the tracker of ctx knows to the run's directory whenever it changes, for ralph watch, until
// stop is called. The file has no secrets and is bounded.
func (s *Session) WriteProgress(ctx context.Context, dir string) (stop func()) {
	steps := loop.StepsOf(ctx)
	if steps == nil {
		return func() {}
	}
	file, began, done, ended := filepath.Join(dir, progressFile), s.Clock(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for shown := []byte(nil); ; {
			p := steps.Progress()
			p.Began = began
			text, err := json.Marshal(p)
			if text = []byte(s.Redact(string(text))); err == nil && len(text) < maxProgress && !bytes.Equal(text, shown) &&
				files.Replace(file, text) == nil {
				shown = text
			}
			select {
			case <-done:
				if root, err := os.OpenRoot(dir); err == nil {
					_ = root.Remove(progressFile)
					_ = root.Close()
				}
				return
			case <-time.After(progressEvery):
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// Progress returns what the process of the run says; known is false if it says nothing.
func (f *Found) Progress() (p loop.Progress, known bool) {
	text, err := files.Read(filepath.Join(f.Run, progressFile))
	return p, err == nil && json.Unmarshal(text, &p) == nil
}
