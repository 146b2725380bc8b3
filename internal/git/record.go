package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	c := newCommit{message: message}
	if t.record != "" {
		c.parents = []string{t.record}
	}
	if commit, err = t.only(ctx, files, c); err != nil {
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
	if r.Files, err = t.allFiles(ctx, t.record); err != nil {
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
	o.Root = dir
	var own objects
	if err := own.layOut(o); err != nil {
		return nil, nil, err
	}
	var every []string
	for _, ref := range []string{recordRef("*"), of.Below + "*"} {
		every = append(every, "+"+ref+":"+ref)
	}
	var e *commandError
	err = own.git.fetch(ctx, o.Remote, []string{"--depth=1"}, every...)
	if errors.As(err, &e) && e.Stderr == "" { // git has nothing to say where there is nothing to fetch
		return nil, map[string]RefFile{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := own.recordsHere(ctx, o.log)
	if err != nil {
		return nil, nil, err
	}
	at, err := own.git.below(ctx, of.Below)
	if err != nil {
		return nil, nil, err
	}
	files, err := own.refFiles(ctx, at, of.Name, of.Most)
	return all, files, err
}

// recordsHere reads the run records that were fetched.
func (o *objects) recordsHere(ctx context.Context, log func(string, ...any)) ([]RunRecord, error) {
	at, err := o.git.below(ctx, recordRef(""))
	if err != nil {
		return nil, err
	}
	var all []RunRecord
	for _, task := range slices.Sorted(maps.Keys(at)) {
		r := RunRecord{Task: task, SHA: at[task]}
		if r.Files, err = o.allFiles(ctx, r.SHA); err != nil { // someone's broken record is not a reason to miss the others
			log("git: the run record of %s cannot be read: %v", r.Task, err)
			continue
		}
		all = append(all, r)
	}
	return all, nil
}

// refAt is a ref with the commit that it is at, and the working tree that a branch is checked out in; "" is none.
type refAt struct{ commit, ref, used string }

// refs lists refs; a pattern is the full name of one, a directory of them, or has stars.
func (d door) refs(ctx context.Context, patterns ...string) (all []refAt, err error) {
	out, err := d.out(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("reading the refs of %s: %w", d.dir, err)
	}
	for line := range strings.Lines(out) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3); len(f) == 3 {
			all = append(all, refAt{f[0], f[1], f[2]})
		}
	}
	return all, nil
}

// below are the refs whose names begin so, by what follows, with what they are at.
func (d door) below(ctx context.Context, prefix string) (map[string]string, error) {
	all, err := d.refs(ctx, prefix)
	at := map[string]string{}
	for _, r := range all {
		at[strings.TrimPrefix(r.ref, prefix)] = r.commit
	}
	return at, err
}

// fetchRecordTime is how long a person waits for a record before the run begins without it.
const fetchRecordTime = 30 * time.Second

// FetchRecord reads the run record of a task that someone has pushed to the remote of the clone in dir; ok is false
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
	if r.Files, err = (&objects{git: d}).allFiles(ctx, r.SHA); err != nil {
		return r, false, fmt.Errorf("reading the run record of %s: %w", task, err)
	}
	return r, true, nil
}

// Has reports whether a commit is below another one, or is it.
func (o *objects) Has(ctx context.Context, commit, in string) bool {
	on, err := o.git.descends(ctx, commit, in)
	return err == nil && on
}

// KeepRecord makes the run record the next commit of the origin's refs/ralph/runs/<task>. It names the ref.
func (t *Tree) KeepRecord(ctx context.Context, files map[string][]byte, message string) (ref string, err error) {
	if _, err = t.SaveRecord(ctx, files, message); err != nil {
		return "", err
	}
	return t.recordRef(), t.PushRecord(ctx)
}
