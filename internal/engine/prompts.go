package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Prompt writes the prompts by a repository's own templates. ctx is that of the run: while it lasts, a stuck run is
// shown what it misses.
func (spec *Spec) Prompt(ctx context.Context, own prompt.Set, comments []task.Comment) prompt.Writer {
	out := spec.PlainPrompt(comments)
	out.Templates, out.Look = own, spec.lookUp(ctx)
	if spec.Plan != nil {
		out.Plan = spec.Plan.Words()
	}
	return out
}

// PromptsOf are the templates of a commit: in the bot those of the base commit, which the agent cannot have touched.
func PromptsOf(ctx context.Context, tree *git.Tree, commit string) (prompt.Set, error) {
	names, err := tree.Names(ctx, commit, prompt.Dir)
	if err != nil {
		return prompt.Set{}, err
	}
	return loadPrompts(names, func(name string) ([]byte, error) {
		content, ok, err := tree.Read(ctx, commit, path.Join(prompt.Dir, name), prompt.MaxTemplate+1)
		if err == nil && !ok {
			err = errors.New("it is not a regular file; make it one")
		}
		return content, err
	})
}

// PromptsIn are the templates of a directory on the command line, read once, before the first turn. No link leads out
// of it.
func PromptsIn(dir string) (prompt.Set, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return prompt.Set{}, fmt.Errorf("looking for prompts: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), prompt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return prompt.Set{}, nil
	}
	if err != nil {
		return prompt.Set{}, invalid.Errorf(
			"reading %s: %w; make it a directory that holds templates, or remove it", prompt.Dir, err,
		)
	}
	return loadPrompts(safetext.Map(entries, fs.DirEntry.Name), func(name string) ([]byte, error) {
		return files.ReadIn(root, path.Join(prompt.Dir, name), prompt.MaxTemplate)
	})
}

// loadPrompts marks a mistake in a template as invalid input.
func loadPrompts(names []string, read func(name string) ([]byte, error)) (prompt.Set, error) {
	set, err := prompt.Load(names, read)
	return set, invalid.Mark(err)
}

// PlainPrompt writes the prompts by ralph's own templates.
func (rules Rules) PlainPrompt(comments []task.Comment) prompt.Writer {
	return prompt.Writer{
		Completion: rules.Settings.CompletionResponse, IterationCount: rules.Settings.IncludeIterationCountInPrompt,
		Comments: comments,
	}
}

// MaxHint bounds what is taken of a hint, in bytes.
const MaxHint = 4 << 10

// hear records what people have said to the run since it was last called, and reports whether they have, or want it to
// stop.
func (run *Run) hear(ctx context.Context) bool {
	if run.Hints == nil {
		return false
	}
	s := run.Journal.State()
	before := len(s.Hints)
	for _, h := range run.Hints(ctx, s) {
		h.Text = safetext.FirstBytes(safetext.Sanitise(run.Redact(h.Text)), MaxHint)
		if h.ID == "" || h.Text == "" || slices.Contains(s.HintIDs(), h.ID) {
			continue
		}
		next, err := run.Journal.Store(loop.Record{Type: loop.Hinted, At: run.Clock(), Hint: &h})
		if err != nil {
			run.Log("recording a hint: %v", err)
			break
		}
		run.Log("hint from %s: %s", h.By, h.Text)
		s = next
	}
	return len(s.Hints) > before || ctx.Err() != nil
}
