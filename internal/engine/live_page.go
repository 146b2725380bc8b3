package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// promptBytes bounds what is shown of a prompt.
const promptBytes = 128 << 10

// shownAgent is an agent whose prompts are shown.
type shownAgent struct {
	loop.Agent
	run *Run
}

// showPrompts passes the agent's prompts on to Shown.
func (run *Run) showPrompts(agent loop.Agent) loop.Agent {
	if run.Shown.Prompt == nil {
		return agent
	}
	return shownAgent{agent, run}
}

// Turn implements loop.Agent.
func (a shownAgent) Turn(ctx context.Context, asked string) (loop.Turn, error) {
	if at := a.run.Journal.State().Turning; at != nil {
		text := asked
		if a.run.Redact != nil {
			text = a.run.Redact(text)
		}
		a.run.Shown.Prompt(at.Iteration, safetext.FirstBytes(text, promptBytes))
	}
	return a.Agent.Turn(ctx, asked)
}

// liveTree is a tree whose commits are shown.
type liveTree struct {
	loop.Tree
	run *Run
}

// showChanges passes the changes of iterations on to Shown.
func (run *Run) showChanges(tree loop.Tree) loop.Tree {
	if run.Shown.Diff == nil || run.Copies.diff == nil {
		return tree
	}
	return liveTree{tree, run}
}

// Commit implements loop.Tree.
func (t liveTree) Commit(ctx context.Context, since string, s loop.State) (loop.Commit, error) {
	c, err := t.Tree.Commit(ctx, since, s)
	last := s.Last()
	if err == nil && last != nil && c.SHA != "" && !c.Unchecked && last.Since != "" && last.Since != c.SHA {
		t.run.Shown.Diff(last.N, t.run.changed(ctx, step{last.N, last.Since, c.SHA}))
	}
	return c, err
}

// changed is what one step has changed, without secrets and cut to what a page shows of it.
func (run *Run) changed(ctx context.Context, s step) html.Diff {
	ctx, cancel := context.WithTimeout(ctx, diffTime)
	defer cancel()
	text, err := run.Copies.diff(ctx, s.from, s.to, html.DiffBytes+diffSlack)
	if err != nil {
		return html.Diff{Note: "The diff cannot be shown; the commit has it."}
	}
	whole := len(text) <= html.DiffBytes
	if run.Redact != nil {
		text = html.WithoutSecrets(text, run.Redact)
	}
	if whole {
		return html.Diff{Text: safetext.FirstBytes(text, html.DiffBytes)}
	}
	most := max(min(html.DiffBytes, len(text)-diffSlack), 0) // a secret may be cut in two at the end of what was read
	text = text[:strings.LastIndexByte(text[:most], '\n')+1]
	return html.Diff{Text: text, Note: "The diff is cut here; the commit has all of it."}
}

func wordsFile(n int) string { return fmt.Sprintf("said_%d.txt", n) }

// keepWords writes down what an agent said in a turn beyond what its record holds, without secrets: checks read it,
// also in another process that continues from the record.
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
