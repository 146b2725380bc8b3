package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/regex"
)

// File reads a file as a commit has it; ok is false when it has none. Only regular files are read: a link is refused.
func (t *Tree) File(ctx context.Context, commit, path string) (content []byte, ok bool, err error) {
	if e, there, err := t.entry(ctx, commit, path); err == nil && there && !e.regular() {
		return nil, false, fmt.Errorf("%s is not a regular file in commit %.12s: make it one", path, commit)
	}
	return t.Read(ctx, commit, path, math.MaxInt)
}

// Read reads at most so many bytes of the beginning of a file as a commit has it; ok is false when it has none, or
// something that is not a regular file: a link, a directory, a submodule.
func (t *Tree) Read(ctx context.Context, commit, path string, most int) (content []byte, ok bool, err error) {
	e, ok, err := t.entry(ctx, commit, path)
	if err != nil || !ok || !e.regular() {
		return nil, false, err
	}
	content, err = t.blob(ctx, e, most)
	return content, true, err
}

// List names what is at the top of a commit's tree.
func (t *Tree) List(ctx context.Context, commit string) ([]string, error) {
	all, err := t.directory(ctx, commit, "")
	return slices.Sorted(maps.Keys(all)), err
}

func (e entry) regular() bool { return e.mode == "100644" || e.mode == "100755" }

// entry is what a commit has at a path.
func (t *Tree) entry(ctx context.Context, commit, name string) (e entry, ok bool, err error) {
	dir, _ := path.Split(name)
	all, err := t.directory(ctx, commit, dir)
	e, ok = all[name]
	return e, ok, err
}

// directory is what a commit has in a directory, "" or with a slash at the end, by the path from the top.
func (t *Tree) directory(ctx context.Context, commit, dir string) (map[string]entry, error) {
	lasts := func(map[string]entry) bool { return fullID.MatchString(commit) }
	return t.known.directories.once(commit+":"+dir, lasts, func() (map[string]entry, error) {
		args := []string{"ls-tree", "-z", "--full-tree", commit}
		if dir != "" {
			args = append(args, "--", ":(literal)"+dir)
		}
		out, err := t.git.out(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("listing %s in commit %.12s: %w", cmp.Or(dir, "files"), commit, err)
		}
		return entriesOf(out), nil
	})
}

// blob is the beginning of a file.
func (t *Tree) blob(ctx context.Context, e entry, most int) ([]byte, error) {
	small := func(text string) bool { return len(text) <= mostKept }
	text, err := t.known.blobs.once(fmt.Sprintf("%s %d", e.id, most), small, func() (string, error) {
		kept := bounded{most: most}
		if _, _, err := t.git.run(ctx, call{out: &kept, args: []string{"cat-file", "blob", e.id}}); err != nil {
			return "", fmt.Errorf("reading %s: %w", e.name, err)
		}
		return kept.kept.String(), nil
	})
	return []byte(text), err
}

// Diff is the change between two commits as a patch, at most so many bytes of its beginning and a line that says how
// much is missing. No program that a repository names takes part.
func (t *Tree) Diff(ctx context.Context, from, to string, most int) (string, error) {
	out := bounded{most: most}
	_, _, err := t.git.run(ctx, call{out: &out, args: []string{
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short", "-M", from,
		to, "--"}})
	if err != nil {
		return "", fmt.Errorf("comparing commits %.12s and %.12s: %w", from, to, err)
	}
	text := strings.ToValidUTF8(out.kept.String(), "\uFFFD")
	if out.lost > 0 {
		text += fmt.Sprintf("\n[... %d bytes of the diff are left out ...]\n", out.lost)
	}
	return text, nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept bytes.Buffer
	most int
	lost int64
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:n])
	b.lost += int64(len(p) - n)
	return len(p), nil
}

// fullID matches a name that stands for one commit for ever.
var fullID = regex.Lazy(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// known are directories and files that were read. A commit never changes, so each question is asked once.
type known struct {
	directories answers[map[string]entry]
	blobs       answers[string]
	changed     answers[[]string] // by the newest commit
	leavings    map[string]bool   // that were named
}

// answers are kept by their questions. The zero value is empty. When it is full it begins anew.
type answers[T any] struct {
	mu   sync.Mutex
	kept map[string]T
}

// Bounds of what is kept: so many answers, and files of at most so many bytes.
const (
	mostAnswers = 256
	mostKept    = 16 << 10
)

func (a *answers[T]) once(question string, lasts func(T) bool, ask func() (T, error)) (T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer, ok := a.kept[question]; ok {
		return answer, nil
	}
	answer, err := ask()
	if err == nil && lasts(answer) {
		a.put(question, answer)
	}
	return answer, err
}

// keep keeps an answer that is known without a question.
func (a *answers[T]) keep(question string, answer T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(question, answer)
}

func (a *answers[T]) put(question string, answer T) {
	if a.kept == nil || len(a.kept) >= mostAnswers {
		a.kept = map[string]T{}
	}
	a.kept[question] = answer
}

// plain are the options of a diff that say the same whatever a user's configuration asks for, and start no program that
// a repository names.
var plain = []string{"--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "-O/dev/null",
	"--ignore-submodules=none", "--submodule=short"}

// Patch is the change between two commits for a program to read: no context, no renames (a moved file is one deleted
// and one added), bytes as they are. It ends after so many bytes, in the middle of a line or not; whole is false then.
// What a repository's attributes call binary is named and not shown: read such a file with Read.
func (t *Tree) Patch(ctx context.Context, from, to string, most int) (patch string, whole bool, err error) {
	out := bounded{most: most}
	args := append([]string{"diff"}, plain...)
	args = append(args, "-U0", "--inter-hunk-context=0", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
		from, to, "--")
	if _, _, err := t.git.run(ctx, call{out: &out, args: args}); err != nil {
		return "", false, fmt.Errorf("comparing commits %.12s and %.12s: %w", from, to, err)
	}
	return out.kept.String(), out.lost == 0, nil
}

// Changed names every file that two commits have not alike, in content, mode or kind, in order. Of a moved file it
// names both places. The list is never cut.
func (t *Tree) Changed(ctx context.Context, from, to string) ([]string, error) {
	lasts := func([]string) bool { return false }
	return t.known.changed.once(from+" "+to, lasts, func() ([]string, error) {
		args := append([]string{"diff"}, plain...)
		out, err := t.git.out(ctx, append(args, "--name-only", "-z", from, to, "--")...)
		if err != nil {
			return nil, fmt.Errorf("naming what differs between commits %.12s and %.12s: %w", from, to, err)
		}
		return records(out), nil
	})
}

// Subjects are those of the newest commits up to one, merges left out, at most so many, newest first.
func (t *Tree) Subjects(ctx context.Context, commit string, most int) ([]string, error) {
	out, err := t.git.out(ctx, "log", "-z", "--no-merges", "--format=%s", "-n", strconv.Itoa(most), "--end-of-options",
		commit)
	if err != nil {
		return nil, fmt.Errorf("reading the newest commits of %.12s: %w", commit, err)
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// eachObject reads what git stores, one after another.
func (t *Tree) eachObject(ctx context.Context, ids string, read func(id, kind string, content []byte) error) error {
	return t.streamObjects(ctx, ids, func(id, kind string, from io.Reader) error {
		content, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		return read(id, kind, content)
	})
}

// streamObjects lets read read what git stores, one after another, each to its end.
func (t *Tree) streamObjects(ctx context.Context, ids string,
	read func(id, kind string, content io.Reader) error) error {
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, _, err := t.git.run(ctx, call{args: []string{"cat-file", "--batch"}, in: strings.NewReader(ids), out: in})
		in.CloseWithError(cmp.Or(err, io.EOF))
		done <- err
	}()
	from := bufio.NewReaderSize(out, 64<<10)
	var failed error
	for failed == nil {
		line, err := from.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		f := fields(line)
		if failed = err; failed == nil && len(f) == 3 {
			failed = streamObject(from, f, read)
		} else if failed == nil && !strings.HasSuffix(line, " missing\n") { // a submodule's commit is not here
			failed = fmt.Errorf("git answered %q", line)
		}
	}
	_ = out.CloseWithError(failed)
	if err := <-done; failed == nil {
		failed = err
	}
	if failed != nil {
		return fmt.Errorf("reading what is new: %w", failed)
	}
	return nil
}

func streamObject(from *bufio.Reader, head []string, read func(id, kind string, content io.Reader) error) error {
	size, err := strconv.ParseInt(head[2], 10, 64)
	if err != nil {
		return err
	}
	content := &io.LimitedReader{R: from, N: size}
	if err := read(head[0], head[1], content); err != nil {
		return err
	}
	if content.N > 0 { // it ended before
		return io.ErrUnexpectedEOF
	}
	_, err = from.Discard(1) // the line's end
	return err
}
