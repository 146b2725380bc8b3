package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

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
