package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// RunRecord is what is kept of one run beside its work: files by name, "journal.jsonl" among them.
type RunRecord struct {
	Task, SHA string
	Files     map[string][]byte
}

// SaveRecord makes the next commit of the run record, refs/ralph/runs/<task>: these files and no others. It stays here
// until it is pushed.
func (t *Tree) SaveRecord(ctx context.Context, files map[string][]byte, message string) (commit string, err error) {
	if t.o.Task == "" {
		return "", errors.New("saving the run record: the run has no task")
	}
	commit, err = t.write(ctx, snapshot{ref: t.recordRef(), parent: t.record, files: files, message: message})
	if err != nil {
		return "", fmt.Errorf("saving the run record of %s: %w", t.o.Task, err)
	}
	t.record = commit
	return commit, nil
}

// LoadRecord reads the run record as it was when the tree was opened, or as it was saved since; ok is false when there
// is none.
func (t *Tree) LoadRecord(ctx context.Context) (r RunRecord, ok bool, err error) {
	if t.record == "" {
		return RunRecord{}, false, nil
	}
	r = RunRecord{Task: t.o.Task, SHA: t.record}
	if r.Files, err = t.git.files(ctx, t.record); err != nil {
		return r, false, fmt.Errorf("reading the run record of %s: %w", t.o.Task, err)
	}
	return r, true, nil
}

// RefFiles are the files of one name and at most so many bytes that a RefStore keeps below a prefix of refs.
type RefFiles struct {
	Below string // "refs/ralph/leases/"
	Name  string
	Most  int
}

// RecordsWith reads the run records of every task, and with the same fetch the files of a RefStore, by what follows the
// prefix in their refs. A task may have either alone.
func RecordsWith(ctx context.Context, o Options, of RefFiles) ([]RunRecord, map[string]RefFile, error) {
	dir, remove, err := proc.TempDir(o.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("reading run records: %w", err)
	}
	defer remove()
	t := ownRepository(o, dir)
	if err := t.layOut(ctx); err != nil {
		return nil, nil, err
	}
	var every []string
	for _, ref := range []string{recordRef("*"), of.Below + "*"} {
		every = append(every, "+"+ref+":"+ref)
	}
	var e *commandError
	err = t.git.fetch(ctx, o.Remote, []string{"--depth=1"}, every...)
	if errors.As(err, &e) && e.Stderr == "" { // git has nothing to say where there is nothing to fetch
		return nil, map[string]RefFile{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := t.recordsHere(ctx)
	if err != nil {
		return nil, nil, err
	}
	at, err := t.git.below(ctx, of.Below)
	if err != nil {
		return nil, nil, err
	}
	files, err := t.git.refFiles(ctx, at, of.Name, of.Most)
	return all, files, err
}

// recordsHere reads the run records that were fetched.
func (t *Tree) recordsHere(ctx context.Context) ([]RunRecord, error) {
	at, err := t.git.below(ctx, recordRef(""))
	if err != nil {
		return nil, err
	}
	var all []RunRecord
	for _, task := range slices.Sorted(maps.Keys(at)) {
		r := RunRecord{Task: task, SHA: at[task]}
		if r.Files, err = t.git.files(ctx, r.SHA); err != nil { // somebody's broken record is not a reason to miss the others
			t.log("git: the run record of %s cannot be read: %v", r.Task, err)
			continue
		}
		all = append(all, r)
	}
	return all, nil
}

// below are the refs whose names begin so, by what follows, with what they are at.
func (d door) below(ctx context.Context, prefix string) (map[string]string, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)"}
	if prefix != "" {
		args = append(args, prefix)
	}
	out, err := d.out(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the refs below %s: %w", prefix, err)
	}
	at := map[string]string{}
	for line := range strings.Lines(out) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		at[strings.TrimPrefix(ref, prefix)] = id
	}
	return at, nil
}

// files reads all regular files of a commit.
func (d door) files(ctx context.Context, commit string) (map[string][]byte, error) {
	out, err := d.out(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var names []string
	var ask strings.Builder
	for _, entry := range records(out) {
		about, name, _ := strings.Cut(entry, "\t")
		if f := fields(about); len(f) == 3 && strings.HasPrefix(f[0], "100") {
			names = append(names, name)
			ask.WriteString(f[2] + "\n")
		}
	}
	out, _, err = d.run(ctx, call{args: []string{"cat-file", "--batch"}, in: strings.NewReader(ask.String())})
	if err != nil {
		return nil, err
	}
	files, from := map[string][]byte{}, bufio.NewReader(strings.NewReader(out))
	for _, name := range names {
		if files[name], err = blob(from); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return files, nil
}

// blob reads one answer of cat-file --batch.
func blob(from *bufio.Reader) ([]byte, error) {
	line, err := from.ReadString('\n')
	f := fields(line)
	if err != nil || len(f) != 3 {
		return nil, fmt.Errorf("git answered %q", line)
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return nil, err
	}
	content := make([]byte, size+1) // and the line's end
	if _, err := io.ReadFull(from, content); err != nil {
		return nil, err
	}
	return content[:size], nil
}
