package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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

// fetchRecordTime is how long a person waits for a record before the run begins without it.
const fetchRecordTime = 30 * time.Second

// FetchRecord reads the run record of a task that somebody has pushed to the remote of the clone in dir; ok is false
// when there is none, or no remote. It lies at the clone's own refs/ralph/runs/<task> from then on. What lay there
// before is not read: an agent may have put it there.
func FetchRecord(ctx context.Context, dir string, env []string, task string) (r RunRecord, ok bool, err error) {
	url, err := RemoteURL(ctx, dir, env)
	if err != nil || url == "" {
		return r, false, err
	}
	d, ref := door{dir: dir, env: usersDoor(env), pair: safe}, recordRef(task)
	args := []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance", "--", url, "+" + ref + ":" + ref}
	_, stderr, err := d.run(ctx, call{args: args, within: fetchRecordTime})
	switch {
	case err != nil && strings.Contains(stderr, "couldn't find remote ref"):
		return r, false, nil
	case err != nil:
		return r, false, Remote{URL: url}.explain("fetching from", err)
	}
	out, err := d.out(ctx, "rev-parse", "--verify", "-q", ref+"^{commit}")
	if err != nil {
		return r, false, fmt.Errorf("reading the run record of %s: %w", task, err)
	}
	r = RunRecord{Task: task, SHA: strings.TrimSpace(out)}
	if r.Files, err = d.files(ctx, r.SHA); err != nil {
		return r, false, fmt.Errorf("reading the run record of %s: %w", task, err)
	}
	return r, true, nil
}

// Has reports whether a commit is below another one, or is it.
func (t *Tree) Has(ctx context.Context, commit, in string) bool {
	on, err := t.descends(ctx, commit, in)
	return err == nil && on
}

// KeepRecord makes the run record the next commit of the origin's refs/ralph/runs/<task>. It names the ref.
func (t *Tree) KeepRecord(ctx context.Context, files map[string][]byte, message string) (ref string, err error) {
	if _, err = t.SaveRecord(ctx, files, message); err != nil {
		return "", err
	}
	return t.recordRef(), t.PushRecord(ctx)
}

// snapshot is a commit that is made without a working tree or an index.
type snapshot struct {
	ref     string
	parent  string // "" makes a first commit
	keep    bool   // the parent's files stay; else the files are all there is
	files   map[string][]byte
	message string
}

// write makes the commit, and puts the ref on it, with one git process.
func (t *Tree) write(ctx context.Context, s snapshot) (commit string, err error) {
	if err := t.settle(); err != nil {
		return "", err
	}
	by, err := t.committer(ctx)
	if err != nil {
		return "", err
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "feature done\ncommit %s\nmark :1\ncommitter %s %d +0000\n", s.ref, by, time.Now().Unix())
	data(&in, []byte(s.message))
	if s.parent != "" {
		fmt.Fprintf(&in, "from %s\n", s.parent)
	}
	if !s.keep {
		in.WriteString("deleteall\n")
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprintf(&in, "M 100644 inline %s\n", quoted(name))
		data(&in, s.files[name])
	}
	in.WriteString("\nget-mark :1\ndone\n")
	out, _, err := t.git.run(ctx, call{args: []string{"fast-import", "--quiet", "--force"}, in: &in})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out), nil
}

func data(b *bytes.Buffer, content []byte) {
	fmt.Fprintf(b, "data %d\n", len(content))
	b.Write(content)
	b.WriteByte('\n')
}

// committer is who commits, as git writes it: "Name <email>".
func (t *Tree) committer(ctx context.Context) (string, error) {
	if t.by != "" {
		return t.by, nil
	}
	out, err := t.git.out(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", fmt.Errorf("asking git who commits: %w", err)
	}
	end := strings.LastIndexByte(out, '>')
	t.by = out[:end+1]
	return t.by, nil
}
