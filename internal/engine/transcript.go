package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
)

func wordsFile(n int) string { return fmt.Sprintf("said_%d.txt", n) }

// keepWords writes down what an agent said in a turn beyond what its record holds, without secrets: checks read it,
// also in another process that goes on from the record.
func (c Coder) keepWords(t *loop.Turn, n int) error {
	said := t.Transcript
	if t.Transcript = ""; said == "" {
		return nil
	}
	cut := int64(len(said)) > loop.SaidBytes // by the mark that says so
	if c.redact != nil {
		said = c.redact(said)
	}
	kept := runDir{c.top, c.dir}
	if err := kept.write(wordsFile(n), []byte(said), 0o600); err != nil {
		return fmt.Errorf("writing down what the agent said: %w", err)
	}
	t.Words = &loop.Words{File: wordsFile(n), Hash: hashOf(said), Bytes: int64(len(said)), Cut: cut}
	return nil
}

// wordsOf reads them again; ok is false when they are gone, as on another machine, or not what was written.
func (run *Run) wordsOf(t loop.Turn) (said string, ok bool) {
	if t.Words == nil {
		return "", false
	}
	root, err := run.aside(run.Dir).open()
	if err != nil {
		return "", false
	}
	defer root.Close()
	name := filepath.Base(t.Words.File)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() != t.Words.Bytes {
		return "", false
	}
	text, err := files.ReadIn(root, name, t.Words.Bytes)
	if err != nil || hashOf(string(text)) != t.Words.Hash {
		return "", false
	}
	return string(text), true
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
