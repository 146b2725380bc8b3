package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Unkept is a file of the working tree that no commit takes up.
type Unkept struct {
	Path string // from the top
	Made bool   // it was made or changed since a time
}

// grain is how far the time of a file may lie before that of the clock: file systems take the time of the kernel's last
// tick.
const grain = 20 * time.Millisecond

// mostUnkept bounds how many such files are listed.
const mostUnkept = 20_000

// Unkept lists files that lie in the working tree and are in no commit, since they are ignored or were there,
// untracked, when the run began; at most 20,000. Made says of each whether it was written since a time.
func (t *Tree) Unkept(ctx context.Context, since time.Time) ([]Unkept, error) {
	out := bounded{most: mostNames}
	_, _, err := t.git.run(ctx, call{out: &out,
		args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}})
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed: %w", err)
	}
	names := append(whole(out, "\x00"), t.kept...)
	var found []Unkept
	for _, name := range names[:min(len(names), mostUnkept)] {
		info, err := os.Lstat(filepath.Join(t.work, filepath.FromSlash(name)))
		if err != nil || info.IsDir() {
			continue
		}
		found = append(found, Unkept{name, lastChange(info).After(since.Add(-grain))})
	}
	return found, nil
}

// IgnoredPaths names what lies in the working tree and is ignored: files, and whole directories with a slash at the
// end.
func (t *Tree) IgnoredPaths(ctx context.Context) ([]string, error) {
	out := bounded{most: mostNames}
	_, _, err := t.git.run(ctx, call{out: &out,
		args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}})
	if err != nil {
		return nil, fmt.Errorf("looking for what is ignored: %w", err)
	}
	return append(whole(out, "\x00"), t.kept...), nil
}

// Tracked reports whether git tracks a path of the working tree, or anything in it.
func (t *Tree) Tracked(ctx context.Context, name string) (bool, error) {
	out := bounded{most: 1}
	_, _, err := t.git.run(ctx, call{out: &out, args: []string{"ls-files", "-z", "--", ":(top,literal)" + name}})
	if err != nil {
		return false, fmt.Errorf("looking whether %s is tracked: %w", name, err)
	}
	return out.kept.Len() > 0, nil
}

func lastChange(info os.FileInfo) time.Time {
	if n := changeTime(info); n != 0 {
		return time.Unix(0, n)
	}
	return info.ModTime()
}

// WhyUnkept says of each path why no commit takes it up: "is ignored by .gitignore:5".
func (t *Tree) WhyUnkept(ctx context.Context, names []string) ([]string, error) {
	asked := safetext.Map(names, func(name string) string { return "./" + name }) // so that no name is read as a pattern
	out, _, err := t.git.run(ctx, call{in: joined(asked),
		args: []string{"check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"}})
	if err != nil && exit(err) != 1 {
		return nil, fmt.Errorf("asking git what ignores a file: %w", err)
	}
	parts := records(out) // source, line, pattern and path of each
	why := make([]string, len(names))
	for i := range names {
		why[i] = "is not tracked, and lay there when the run began"
		if 4*i+3 < len(parts) && parts[4*i] != "" && !strings.HasSuffix(parts[4*i], listFile) {
			why[i] = fmt.Sprintf("is ignored by %s:%s", parts[4*i], parts[4*i+1])
		} else if 4*i+3 < len(parts) && !strings.HasPrefix(parts[4*i+2], "/") && parts[4*i] != "" {
			why[i] = fmt.Sprintf("is ignored by %q, one of your own patterns", parts[4*i+2])
		}
	}
	return why, nil
}
