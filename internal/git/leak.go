package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// shortestSecret is the length below which a value is no secret: it would be found everywhere.
const shortestSecret = 8

// seekThrough lets seek read the commits from since to HEAD, messages too.
func (t *Tree) seekThrough(ctx context.Context, since string, seek *finder) error {
	if len(seek.secrets) == 0 {
		return nil
	}
	_, _, err := t.git.run(ctx, call{out: seek, args: []string{
		"log", "-p", "--text", "-U0", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", since + "..HEAD",
		"--"}})
	if err != nil {
		return fmt.Errorf("looking for secrets in the new commits: %w", err)
	}
	return nil
}

// withhold makes the commits from since to HEAD again, as one without the files that hold a secret of the harness: what
// is committed is pushed. The note names them.
func (t *Tree) withhold(ctx context.Context, since, message string) (c loop.Commit, note string, err error) {
	names, err := t.holders(ctx, since)
	if err != nil {
		return c, "", err
	}
	if _, err := t.git.out(ctx, "reset", "-q", "--soft", since); err != nil {
		return c, "", fmt.Errorf("taking back a commit that holds a secret: %w", err)
	}
	note = "a commit of the agent's held a secret of ralph's; only its files were kept"
	if len(names) > 0 {
		note = fmt.Sprintf("%s: holds a secret of ralph's and was left out", strings.Join(names, ", "))
		_, _, err := t.git.run(ctx, call{in: joined(names),
			args: []string{"--literal-pathspecs", "reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"}})
		if err != nil {
			return c, "", fmt.Errorf("leaving out files that hold a secret: %w", err)
		}
	}
	t.indexed = ""
	_, err = t.git.out(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", since)
	switch exit(err) {
	case 1:
		if err := t.commit(ctx, since, message); err != nil {
			return c, "", err
		}
	default:
		if err != nil {
			return c, "", fmt.Errorf("comparing with %.12s: %w", since, err)
		}
	}
	made, err := t.between(ctx, since, "HEAD")
	made.Empty = made.SHA == since
	return made, note, err
}

// holders are the files changed since a commit whose content at HEAD holds a secret.
func (t *Tree) holders(ctx context.Context, since string) ([]string, error) {
	out, err := t.git.out(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=d", since, "HEAD",
		"--")
	if err != nil {
		return nil, fmt.Errorf("comparing with %.12s: %w", since, err)
	}
	var names []string
	for _, name := range records(out) {
		seek := newFinder(t.o.Secrets)
		_, _, err := t.git.run(ctx, call{out: seek, args: []string{"cat-file", "blob", "HEAD:" + name}})
		if err != nil && exit(err) < 0 {
			return nil, err
		}
		if seek.found || seek.holds([]byte(name)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// finder looks for secrets in what is written to it.
type finder struct {
	secrets [][]byte
	tail    []byte // the end of what came before: a secret may lie across two writes
	longest int
	found   bool
}

func newFinder(secrets []string) *finder {
	f := &finder{}
	for _, s := range secrets {
		for _, s := range append(keyLines(s), s) {
			if len(s) >= shortestSecret {
				f.secrets = append(f.secrets, []byte(s))
				f.longest = max(f.longest, len(s))
			}
		}
	}
	return f
}

// keyLines are the lines that a private key is known by, each on its own: in a diff every line has a mark before it.
// The first says what kind of key it is, which it shares with others.
func keyLines(secret string) []string {
	if !strings.HasPrefix(secret, "-----BEGIN ") || !strings.Contains(secret, "PRIVATE KEY-----") {
		return nil
	}
	var lines []string
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 40 && !strings.ContainsAny(line, "- :") {
			lines = append(lines, line)
		}
	}
	return lines[min(len(lines), 1):]
}

func (f *finder) Write(p []byte) (int, error) {
	if len(f.secrets) == 0 || f.found {
		return len(p), nil
	}
	text := append(f.tail, p...)
	f.found = f.holds(text)
	f.tail = append([]byte(nil), text[max(0, len(text)-f.longest+1):]...)
	return len(p), nil
}

func (f *finder) holds(text []byte) bool {
	for _, s := range f.secrets {
		if bytes.Contains(text, s) {
			return true
		}
	}
	return false
}

// beginning keeps what is written to it up to an empty record, and passes everything on.
type beginning struct {
	bytes.Buffer
	rest *finder
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
