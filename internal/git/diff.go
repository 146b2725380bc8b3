package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Diff is the change between two commits as a patch, at most so many bytes of its beginning and a line that says how
// much is missing. No program that a repository names takes part.
func (o *objects) Diff(ctx context.Context, from, to string, most int) (string, error) {
	out := bounded{most: most}
	small := func(text string) bool { return out.lost == 0 && len(text) <= mostKept }
	text, err := o.known.diffs.once(from+" "+to, small, func() (string, error) {
		_, _, err := o.git.run(ctx, call{out: &out, args: []string{
			"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short", "-M", from,
			to, "--"}})
		return out.kept.String(), err
	})
	if err != nil {
		return "", fmt.Errorf("comparing commits %.12s and %.12s: %w", from, to, err)
	}
	if more := len(text) - most; more > 0 {
		text, out.lost = text[:most], int64(more)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if out.lost > 0 {
		text += fmt.Sprintf("\n[... %d bytes of the diff are left out ...]\n", out.lost)
	}
	return text, nil
}

// plain are the options of a diff that say the same whatever a user's configuration asks for, and start no program that
// a repository names.
var plain = []string{"--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "-O/dev/null",
	"--ignore-submodules=none", "--submodule=short"}

// Patch is the change between two commits for a program to read: no context, no renames (a moved file is one deleted
// and one added), bytes as they are. It ends after so many bytes, in the middle of a line or not; whole is false then.
// What a repository's attributes call binary is named and not shown: read such a file with Read.
func (o *objects) Patch(ctx context.Context, from, to string, most int) (patch string, whole bool, err error) {
	out := bounded{most: most}
	args := append([]string{"diff"}, plain...)
	args = append(args, "-U0", "--inter-hunk-context=0", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
		from, to, "--")
	if _, _, err := o.git.run(ctx, call{out: &out, args: args}); err != nil {
		return "", false, fmt.Errorf("comparing commits %.12s and %.12s: %w", from, to, err)
	}
	return out.kept.String(), out.lost == 0, nil
}

// Changed names every file that two commits have not alike, in content, mode or kind, in order. Of a moved file it
// names both places. The list is never cut.
func (o *objects) Changed(ctx context.Context, from, to string) ([]string, error) {
	lasts := func([]string) bool { return false }
	return o.known.changed.once(from+" "+to, lasts, func() ([]string, error) {
		args := append([]string{"diff"}, plain...)
		out, err := o.git.out(ctx, append(args, "--name-only", "-z", from, to, "--")...)
		if err != nil {
			return nil, fmt.Errorf("naming what differs between commits %.12s and %.12s: %w", from, to, err)
		}
		return records(out), nil
	})
}

// change is one path that two commits do not have alike.
type change struct{ was, is entry }

// changes runs a comparing command.
func (o *objects) changes(ctx context.Context, command string, args ...string) ([]change, error) {
	args = append([]string{command, "-z", "--raw", "--no-abbrev", "--no-renames"}, args...)
	out, err := o.git.out(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("comparing with commit %.12s: %w", args[len(args)-1], err)
	}
	var all []change
	parts := records(out)
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("comparing commits: git answered %q", parts[i])
		}
		all = append(all, change{entry{f[0], f[2], parts[i+1]}, entry{f[1], f[3], parts[i+1]}})
	}
	return all, nil
}

// between lists what changed from one commit to another.
func (o *objects) between(ctx context.Context, from, to string) (loop.Commit, error) {
	ids, err := o.git.out(ctx, "rev-parse", to+"^{commit}", to+"^{tree}")
	if err != nil {
		return loop.Commit{}, fmt.Errorf("reading commit %s: %w", to, err)
	}
	return o.compared(ctx, from, strings.Fields(ids)...)
}

// compared is between for one whose commit and tree are known.
func (o *objects) compared(ctx context.Context, from string, ids ...string) (loop.Commit, error) {
	if len(ids) != 2 {
		return loop.Commit{}, fmt.Errorf("reading a commit: git answered %q", ids)
	}
	stats, err := o.git.out(ctx, "diff-tree", "-r", "-z", "--no-ext-diff", "--no-textconv", "--numstat", "--no-renames",
		"--ignore-submodules=none", from, ids[0], "--")
	if err != nil {
		return loop.Commit{}, fmt.Errorf("comparing commits %.12s and %.12s: %w", from, ids[0], err)
	}
	c, names := loop.Commit{SHA: ids[0], Tree: ids[1]}, []string(nil)
	for _, entry := range records(stats) {
		f := strings.SplitN(entry, "\t", 3)
		if len(f) != 3 {
			return loop.Commit{}, fmt.Errorf("comparing commits: git answered %q", entry)
		}
		if names = append(names, f[2]); len(names) > maxFiles {
			c.MoreFiles++
			continue
		}
		c.Files = append(c.Files, loop.FileChange{Path: strings.ToValidUTF8(f[2], "\uFFFD"), Added: count(f[0]),
			Deleted: count(f[1])})
	}
	o.known.changed.keep(from+" "+ids[0], names)
	return c, nil
}

// maxFiles is how many changed files a commit lists.
const maxFiles = 50

// count reads a number of lines; "-" stands for a binary file.
func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// What GitHub takes of one file, and from where on a file is named, in bytes.
const (
	mostSize  = 100 << 20
	largeSize = 10 << 20
)

// weigh names the large files in the commits from since to a commit, and marks a commit that no push to GitHub takes.
func (o *objects) weigh(ctx context.Context, since string, c *loop.Commit) (notes []string, err error) {
	large, err := o.over(ctx, largeSize-1, since, c.SHA)
	if err != nil || len(large) == 0 {
		return nil, err
	}
	refused, err := o.over(ctx, mostSize, since, c.SHA)
	if len(refused) > 0 {
		c.Declined = fmt.Sprintf("%s: GitHub takes no file of more than %d MB", safetext.FirstN(refused, mostNamed), mostSize>>20)
	}
	return []string{fmt.Sprintf("%s: large for a repository, %d MB or more", safetext.FirstN(large, mostNamed), largeSize>>20)}, err
}

// over names the files of more than a size in the commits from since to a commit.
func (o *objects) over(ctx context.Context, size int, since, commit string) (names []string, err error) {
	out, err := o.git.out(ctx, "rev-list", "--objects", fmt.Sprintf("--filter=blob:limit=%d", size+1), "--filter-print-omitted",
		commit, "^"+since)
	if err != nil || !strings.Contains(out, "~") {
		return nil, err
	}
	at, err := o.git.out(ctx, "log", "-m", "-z", "--format=", "--raw", "--no-abbrev", "--no-renames", since+".."+commit, "--")
	if err != nil {
		return nil, fmt.Errorf("looking for large files: %w", err)
	}
	for line := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "~"); ok {
			_, after, _ := strings.Cut(at, " "+id+" ")
			name := strings.SplitN(after, "\x00", 3)
			names = append(names, fmt.Sprintf("%q", name[min(1, len(name)-1)]))
		}
	}
	return names, nil
}

// mostNamed is how many refs a note names.
const mostNamed = 5
