package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// A large file of Git LFS is a pointer in its commit; what it points to is taken from what the clone has, and never
// fetched for a check.

// pointer begins a file whose content was not to be had.
const pointer = "version https://git-lfs.github.com/spec/"

// largeFiles are what a repository's attributes name.
const largeFiles = "filter=lfs"

// missingLarge names, in a sentence, the large files of the tree whose content this clone does not have, but those that
// it lacked when the run began. A clone without Git LFS has none of them anyhow.
func (j *JudgeTree) missingLarge(ctx context.Context) ([]string, error) {
	if !j.t.large {
		return nil, nil
	}
	p := j.parts[0]
	if has, err := j.hasLarge(ctx); err != nil || !has {
		return nil, err
	}
	names, err := p.git.out(ctx, "ls-files", "-z")
	if err != nil {
		return nil, fmt.Errorf("looking for large files: %w", err)
	}
	out, _, err := p.git.run(ctx, call{in: strings.NewReader(names),
		args: []string{"check-attr", "-z", "--stdin", "filter"}})
	if err != nil {
		return nil, fmt.Errorf("looking for large files: %w", err)
	}
	var missing []string
	for entry := range slices.Chunk(records(out), 3) {
		if len(entry) == 3 && entry[2] == "lfs" && j.isPointer(entry[0]) {
			missing = append(missing, entry[0])
		}
	}
	if j.lacks == nil { // the clone came without them
		j.lacks = map[string]bool{}
		for _, name := range missing {
			j.lacks[name] = true
		}
	}
	missing = slices.DeleteFunc(missing, func(name string) bool { return j.lacks[name] })
	if len(missing) == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("the contents of %s are not in this clone (git lfs fetch brings them)",
		safetext.FirstN(missing, mostNamed))}, nil
}

// What GitHub takes of one file, and from where on a file is worth a word, in bytes.
const (
	mostSize  = 100 << 20
	largeSize = 10 << 20
)

// weigh adds to a commit what it says of the large files in the commits from since to it: a note, or that no push to
// GitHub takes them.
func (o *objects) weigh(ctx context.Context, since string, c *loop.Commit) error {
	out, err := o.git.out(ctx, "rev-list", "--objects", fmt.Sprintf("--filter=blob:limit=%d", largeSize),
		"--filter-print-omitted", c.SHA, "^"+since)
	if err != nil {
		return fmt.Errorf("looking for large files: %w", err)
	}
	var ids []string
	for line := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "~"); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	sizes, _, err := o.git.run(ctx, call{in: strings.NewReader(strings.Join(ids, "\n") + "\n"),
		args: []string{"cat-file", "--batch-check=%(objectsize) %(objectname)"}})
	if err != nil {
		return fmt.Errorf("looking for large files: %w", err)
	}
	at, err := o.git.out(ctx, "log", "-m", "-z", "--format=", "--raw", "--no-abbrev", "--no-renames", since+".."+c.SHA, "--")
	if err != nil {
		return fmt.Errorf("looking for large files: %w", err)
	}
	var noted, over []string
	for line := range strings.Lines(sizes) {
		text, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		size, _ := strconv.Atoi(text)
		_, after, _ := strings.Cut(at, " "+id+" ")
		name := strings.SplitN(after, "\x00", 3)
		said := fmt.Sprintf("%q is %.2f MB", name[min(1, len(name)-1)], float64(size)/(1<<20))
		if size > mostSize {
			over = append(over, said)
		} else {
			noted = append(noted, said)
		}
	}
	if len(over) > 0 {
		c.Declined = fmt.Sprintf("%s; GitHub takes no file of more than %d MB, so this was not pushed",
			safetext.FirstN(over, mostNamed), mostSize>>20)
	}
	if len(noted) > 0 {
		c.Note = strings.Join(append(records(c.Note), "large: "+safetext.FirstN(noted, mostNamed)), "; ")
	}
	return nil
}

// hasLarge reports whether the commit's attributes name large files. They are looked through again when they have
// changed.
func (j *JudgeTree) hasLarge(ctx context.Context) (bool, error) {
	p, attributes := j.parts[0], ":(glob)**/.gitattributes"
	if j.attributesAt == p.commit {
		return j.largeThere, nil
	}
	if j.attributesAt != "" {
		_, err := p.git.out(ctx, "diff-tree", "-r", "--quiet", j.attributesAt, p.commit, "--", attributes)
		if err == nil {
			j.attributesAt = p.commit
			return j.largeThere, nil
		}
	}
	_, err := p.git.out(ctx, "grep", "-q", "-F", largeFiles, p.commit, "--", attributes)
	j.attributesAt, j.largeThere = p.commit, err == nil
	return err == nil, ignore(err)
}

func (j *JudgeTree) isPointer(name string) bool {
	root, err := os.OpenRoot(j.dir)
	if err != nil {
		return false
	}
	defer root.Close()
	name = path.Clean(name)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := files.ReadIn(root, name, 1024)
	return err == nil && bytes.HasPrefix(text, []byte(pointer))
}
