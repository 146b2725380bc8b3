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
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/secret"
)

// What is committed is pushed, so a commit is looked through before anything relies on it. What changed is read as git
// shows it, which is cheap; where that tells of a secret, or of something compressed, each new file, message and name
// is read as it is.

// AcceptCredentials says which texts that look like a credential somebody has accepted, by the file and the mark that
// would stand there. Until it is called, nobody has.
func (t *Tree) AcceptCredentials(accepted func(path string, m secret.Mark) bool) {
	t.leaks.accepted = accepted
}

// search reads what changed: for values that are known, and among the lines that were added for what looks like a
// credential.
type search struct {
	known *secret.Finder
	line  []byte       // the beginning of a line that is not whole yet
	added bytes.Buffer // lines that were added, without their sign
	looks bool
}

func (t *Tree) search() *search { return &search{known: t.secrets().Finder()} }

// mostAdded is how much of what was added is looked through at once, mostLine how much of one line.
const (
	mostAdded = 1 << 20
	mostLine  = 64 << 10
)

// Write implements io.Writer.
func (s *search) Write(p []byte) (int, error) {
	_, _ = s.known.Write(p)
	for rest := p; len(rest) > 0 && !s.looks; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, line[:min(len(line), max(0, mostLine-len(s.line)))]...)
		if rest = after; !whole {
			break
		}
		if len(s.line) > 0 && s.line[0] == '+' {
			s.added.Write(s.line[1:])
			s.added.WriteByte('\n')
		}
		s.line = s.line[:0]
		if s.added.Len() > mostAdded {
			s.look()
		}
	}
	return len(p), nil
}

func (s *search) look() {
	s.looks = s.looks || len(secret.Credentials(s.added.String())) > 0
	s.added.Reset()
}

// suspects reports whether the new files have to be read as they are.
func (s *search) suspects() bool {
	s.look()
	return s.looks || s.known.Found() || s.known.Packed()
}

// seekThrough lets a search read the commits from since to HEAD, messages too.
func (t *Tree) seekThrough(ctx context.Context, since string, seek *search) error {
	_, _, err := t.git.run(ctx, call{out: seek, args: []string{
		"log", "-p", "-m", "--text", "-U0", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color",
		since + "..HEAD", "--"}})
	if err != nil {
		return fmt.Errorf("looking for secrets in the new commits: %w", err)
	}
	return nil
}

// leaks are what no commit may hold, in the commits above another.
type leaks struct {
	files  map[string]string // files of the newest commit that hold a secret, with the place and how it is written
	marked map[string][]byte // files with something that looks like a credential, without that
	places []string          // where it was, and what it looked like
	before bool              // a message, or a commit below, tells a secret
}

func (l *leaks) any() bool { return l.before || len(l.files) > 0 || len(l.marked) > 0 }

// notes tells of them in sentences.
func (l *leaks) notes() (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		notes = append(notes, l.files[name])
	}
	if len(notes) > 0 {
		notes = []string{strings.Join(notes, ", ") + ": holds a secret of ralph's and was left out; write the name of the " +
			"variable there, not its value"}
	}
	if len(l.places) > 0 {
		notes = append(notes, strings.Join(l.places, ", ")+": taken out of the commit; a placeholder belongs there, or if "+
			"it is a sample, somebody accepts it by its name")
	}
	if l.before {
		notes = append(notes, "a commit of the agent's held a secret of ralph's, or something that looked like a "+
			"credential; only its files were kept")
	}
	return notes
}

// leaksIn reads the commits from since to a tip as they are: every new file, name and message.
func (t *Tree) leaksIn(ctx context.Context, since, tip string) (*leaks, error) {
	found := &leaks{files: map[string]string{}, marked: map[string][]byte{}}
	changed, err := t.changes(ctx, "diff-tree", "-r", since, tip)
	if err != nil {
		return nil, err
	}
	names := map[string][]string{}
	for _, ch := range changed {
		if ch.is.mode == missing {
			continue
		}
		names[ch.is.id] = append(names[ch.is.id], ch.is.name)
		if s, ok := t.secrets().First(ch.is.name); ok {
			found.files[ch.is.name] = "a file's name, " + s.As
		}
	}
	ids, err := t.git.out(ctx, "rev-list", "--objects", "--no-object-names", tip, "^"+since)
	if err != nil {
		return nil, fmt.Errorf("listing what is new: %w", err)
	}
	// what is new in the tree may be older than the commits: from another branch, or brought back
	ids += strings.Join(slices.Collect(maps.Keys(names)), "\n") + "\n"
	err = t.eachObject(ctx, ids, func(id, kind string, content []byte) error {
		return t.leaksOf(ctx, found, since, object{kind, string(content), names[id]})
	})
	return found, err
}

// object is something that git stores, with the names that the newest commit has it by.
type object struct {
	kind, content string
	names         []string
}

func (t *Tree) leaksOf(ctx context.Context, found *leaks, since string, o object) error {
	s, leaks := t.secrets().First(o.content)
	switch {
	case leaks && len(o.names) == 0:
		found.before = true
	case leaks:
		for _, name := range o.names {
			found.files[name] = fmt.Sprintf("%s:%d %s", name, lineAt(o.content, s.From), s.As)
		}
	}
	if leaks || o.kind != "blob" || strings.Contains(o.content[:min(len(o.content), 8000)], "\x00") {
		return nil
	}
	var fresh []secret.Credential
	for _, c := range secret.Credentials(o.content) {
		if is, err := t.isNew(ctx, since, o.content[c.From:c.To]); err != nil {
			return err
		} else if is {
			fresh = append(fresh, c)
		}
	}
	found.before = found.before || len(fresh) > 0 && len(o.names) == 0
	for _, name := range o.names {
		t.markIn(found, name, o.content, fresh)
	}
	return nil
}

// markIn notes what of a file nobody has accepted.
func (t *Tree) markIn(found *leaks, name, content string, fresh []secret.Credential) {
	fresh = slices.DeleteFunc(slices.Clone(fresh), func(c secret.Credential) bool {
		return t.leaks.accepted != nil && t.leaks.accepted(name, secret.MarkOf(content, c))
	})
	for _, c := range fresh {
		found.places = append(found.places, fmt.Sprintf("%s:%d looks like %s", name, lineAt(content, c.From), c.What))
	}
	if len(fresh) > 0 {
		found.marked[name] = []byte(secret.TakeOut(content, fresh))
	}
}

// isNew reports whether a text is nowhere in a commit: what was there before is not this run's to judge.
func (t *Tree) isNew(ctx context.Context, since, value string) (bool, error) {
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	longest := slices.MaxFunc(lines, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	_, err := t.git.out(ctx, "grep", "-q", "-F", "--no-recurse-submodules", "--no-textconv", "-e", longest, since, "--")
	return err != nil, ignore(err)
}

// eachObject reads what git stores, one after another.
func (t *Tree) eachObject(ctx context.Context, ids string, read func(id, kind string, content []byte) error) error {
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
			failed = readObject(from, f, read)
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

func readObject(from *bufio.Reader, head []string, read func(id, kind string, content []byte) error) error {
	var size int
	if _, err := fmt.Sscan(head[2], &size); err != nil {
		return err
	}
	content := make([]byte, size+1) // and the line's end
	if _, err := io.ReadFull(from, content); err != nil {
		return err
	}
	return read(head[0], head[1], content[:size])
}

// withhold makes the commits from since to HEAD again, as one without what no commit may hold: what is committed is
// pushed. Files that hold a secret of the harness's are left out of it; what looks like a credential is taken out of
// its file. It fails when that does not help, and then nothing is committed.
func (t *Tree) withhold(ctx context.Context, since, message string, found *leaks) (c loop.Commit, err error) {
	if _, err := t.git.out(ctx, "reset", "-q", "--soft", since); err != nil {
		return c, fmt.Errorf("taking back a commit that holds a secret: %w", err)
	}
	t.indexed = ""
	if names := slices.Sorted(maps.Keys(found.files)); len(names) > 0 {
		_, _, err := t.git.run(ctx, call{in: joined(names),
			args: []string{"--literal-pathspecs", "reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"}})
		if err != nil {
			return c, fmt.Errorf("leaving out files that hold a secret: %w", err)
		}
	}
	if err := t.takeOut(ctx, since, found.marked); err != nil {
		return c, fmt.Errorf("taking what looks like a credential out of the commit: %w", err)
	}
	_, err = t.git.out(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", since)
	switch exit(err) {
	case 1:
		if err := t.commit(ctx, since, message); err != nil {
			return c, err
		}
	default:
		if err != nil {
			return c, fmt.Errorf("comparing with %.12s: %w", since, err)
		}
	}
	if c, err = t.between(ctx, since, "HEAD"); err != nil {
		return c, err
	}
	c.Empty = c.SHA == since
	left, err := t.leaksIn(ctx, since, c.SHA)
	if err == nil && left.any() {
		err = errors.New("the commit still holds a secret without what was left out: " + strings.Join(left.notes(), "; "))
	}
	return c, err
}

// takeOut makes the index hold other contents of files that it has.
func (t *Tree) takeOut(ctx context.Context, since string, contents map[string][]byte) error {
	if len(contents) == 0 {
		return nil
	}
	ids, err := t.blobs(ctx, contents)
	if err != nil {
		return err
	}
	staged, err := t.changes(ctx, "diff-index", "--cached", "--ignore-submodules=none", since)
	if err != nil {
		return err
	}
	var puts []entry
	for _, ch := range staged {
		if id, ok := ids[ch.is.name]; ok && ch.is.mode != missing {
			puts = append(puts, entry{ch.is.mode, id, ch.is.name})
		}
	}
	return t.inIndex(ctx, nil, puts, nil)
}

// beginning keeps what is written to it up to an empty record, and passes everything on.
type beginning struct {
	bytes.Buffer
	rest *search
	over bool
}

func (b *beginning) Write(p []byte) (int, error) {
	if !b.over {
		from := max(0, b.Len()-1)
		b.Buffer.Write(p)
		if i := bytes.Index(b.Bytes()[from:], []byte("\x00\x00")); i >= 0 {
			b.Truncate(from + i)
			b.over = true
		}
	}
	return b.rest.Write(p)
}
