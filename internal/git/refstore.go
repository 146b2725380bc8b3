package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/regex"
)

// RefStore keeps small files on a remote without a history: each is the only file of a commit without parents that a
// ref points to. A ref moves only by compare and swap, so of two that want to move it one does. The store has a small
// repository of its own, so that it works beside a run's tree. It is not safe for use by several goroutines at once.
type RefStore struct {
	objects
	o      Options
	remove func()
}

// RefFile is a file of a RefStore.
type RefFile struct {
	Commit  string
	Content []byte    // nil when the commit has no such file, or one that is too large
	Date    time.Time // the committer's; zero when the commit does not say it or is no commit
}

// RefMovedError says that a ref of the remote is not at the commit that a push expected; the push changed nothing.
type RefMovedError struct{ Ref string }

func (e *RefMovedError) Error() string { return e.Ref + " has moved on the remote" }

// OpenRefStore makes the repository below o.Root, or in a temporary directory when that is "". No one but us may look
// into it. It uses the options Root, Remote, Env, Log and DryRun; a dry run changes nothing on the remote.
func OpenRefStore(ctx context.Context, o Options) (*RefStore, error) {
	dir, remove, err := proc.TempDir(o.Root)
	if err != nil {
		return nil, err
	}
	o.Root, o.Identity, o.Sign = dir, Identity{"ralph", "ralph@localhost"}, nil
	s := &RefStore{o: o, remove: remove}
	if err := errors.Join(s.layOut(o), os.Chmod(dir, 0o700)); err != nil {
		remove()
		return nil, err
	}
	return s, nil
}

// Close removes the repository. On the remote nothing changes.
func (s *RefStore) Close() { s.remove() }

// Renew gives another token for the remote, when the one before is about to expire.
func (s *RefStore) Renew(token string) { s.o.Remote.Token = token }

// Fetch brings a ref here and says which commit it is at; "" when the remote does not have it. One fetch of one ref
// does it: a listing would bring the name of every ref of the remote.
func (s *RefStore) Fetch(ctx context.Context, ref string) (commit string, err error) {
	s.unlock()
	return s.git.fetchRef(ctx, s.o.Remote, ref)
}

// Read reads a file of at most so many bytes from a commit that was fetched.
func (s *RefStore) Read(ctx context.Context, commit, name string, most int) (RefFile, error) {
	all, err := s.refFiles(ctx, map[string]string{"": commit}, name, most)
	return all[""], err
}

// Write makes a commit without a parent that holds one file; Commit of f does not count. The remote does not get it
// before Move.
func (s *RefStore) Write(ctx context.Context, name, message string, f RefFile) (commit string, err error) {
	return s.only(ctx, map[string][]byte{name: f.Content}, newCommit{message: message, at: f.Date})
}

// Move moves a ref on the remote from one commit to another; "" as from means that it must not be there, as to that it
// is deleted. The error is a *RefMovedError when the ref is not at from, as after a push whose answer got lost.
func (s *RefStore) Move(ctx context.Context, ref, from, to string) error {
	if s.o.DryRun {
		return nil
	}
	err := s.o.Remote.outlast(ctx, s.o.Remote.Patience, func() error {
		return remote{s.git, &s.o.Remote}.push(ctx, []move{{ref: ref, to: to, leased: true, from: from}})
	})
	var stale *staleError
	if errors.As(err, &stale) {
		return &RefMovedError{ref}
	}
	return err
}

// unlock removes the locks that a git left when it was killed, as one is whose remote was too slow. No one else uses
// the repository.
func (s *RefStore) unlock() { removeLocks(s.common) }

// maxRefCommit is how large a commit of a RefStore may be, with a signature.
const maxRefCommit = 64 << 10

// refFiles reads one file of each of the commits, which are here. Of what is larger than most nothing is kept.
func (o *objects) refFiles(ctx context.Context, at map[string]string, name string, most int) (map[string]RefFile, error) {
	if len(at) == 0 {
		return map[string]RefFile{}, nil
	}
	var ask strings.Builder
	for _, commit := range at {
		fmt.Fprintf(&ask, "%s^{commit}\n%s:%s\n", commit, commit, name)
	}
	read, of := map[string]RefFile{}, "" // the commit whose file comes next
	err := o.streamObjects(ctx, ask.String(), func(id, kind string, content io.Reader) error {
		bound := map[string]int{"commit": maxRefCommit, "blob": most}[kind]
		text, err := io.ReadAll(io.LimitReader(content, int64(bound)+1))
		if more, _ := io.Copy(io.Discard, content); more > 0 || len(text) > bound {
			text = nil
		}
		if kind == "commit" {
			of = id
			read[of] = RefFile{Commit: id, Date: commitDate(text)}
		} else if f := read[of]; kind == "blob" {
			f.Content = text
			read[of] = f
		}
		return err
	})
	all := map[string]RefFile{}
	for key, commit := range at {
		all[key] = read[commit]
		if all[key].Commit == "" {
			all[key] = RefFile{Commit: commit}
		}
	}
	return all, err
}

// committed finds when a commit was made, as it says itself.
var committed = regex.Lazy(`(?m)^committer .*> ([1-9]\d{0,11}) \S+$`)

func commitDate(raw []byte) time.Time {
	head, _, _ := strings.Cut(string(raw), "\n\n")
	m := committed.FindStringSubmatch(head)
	if m == nil {
		return time.Time{}
	}
	at, _ := strconv.ParseInt(m[1], 10, 64) // it has at most 12 digits
	return time.Unix(at, 0)
}

// RunRecord is what is kept of one run beside its work: files by name, "journal.jsonl" among them.
type RunRecord struct {
	Task, SHA string
	Files     map[string][]byte
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
