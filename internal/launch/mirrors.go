package launch

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Mirrors keeps a copy of each repository, from which the jobs' own repositories borrow their objects. Each copy is in
// a directory with a name that no one can guess, in one that no one else can list: agents of one repository do not find
// that of another, though they work as the same user. It is safe for concurrent use by one server.
type Mirrors struct {
	dir     string
	key     []byte // of the names
	most    int64  // bytes
	environ []string
	log     func(format string, args ...any)

	mu    sync.Mutex
	known map[string]*mirror // by the name of the directory
}

// mirror is the copy of one repository. Its directory's time is when it was used last.
type mirror struct {
	size  int64      // bytes
	users int        // jobs that borrow from it
	turn  sync.Mutex // who brings it up to date
}

// mirrorKey is the file with the key of the names.
const mirrorKey = "key"

// OpenMirrors opens the mirrors below a directory, which is made. Together they take about most bytes: those that have
// not been used for longest are removed first, and none that a job borrows from. git is started with what it needs of
// environ.
func OpenMirrors(dir string, most int64, environ []string, log func(format string, args ...any)) (*Mirrors, error) {
	m := &Mirrors{dir: dir, most: most, environ: proc.Environment(environ, proc.Allowed), log: log, known: map[string]*mirror{}}
	file := filepath.Join(dir, mirrorKey)
	err := errors.Join(os.MkdirAll(dir, 0o711), os.Chmod(dir, 0o711)) // said above
	if err == nil {
		m.key, err = os.ReadFile(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		m.key = []byte(rand.Text())
		err = os.WriteFile(file, m.key, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("making a place for mirrors: %w", err)
	}
	return m, nil
}

// name is that of the directory of a repository's mirror.
func (m *Mirrors) name(url string) string {
	sum := hmac.New(sha256.New, m.key)
	_, _ = sum.Write([]byte(url)) // never fails
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Borrow brings the mirror of a repository up to date and lends it, until back is called.
func (m *Mirrors) Borrow(ctx context.Context, repository string, from git.Remote) (dir string, back func(), err error) {
	name := m.name(from.URL)
	dir = filepath.Join(m.dir, name)
	k := m.take(name)
	back = sync.OnceFunc(func() { m.giveBack(k, dir) })
	o := git.Options{Remote: from, Env: m.environ, Log: m.log}
	k.turn.Lock()
	defer k.turn.Unlock()
	m.mu.Lock()
	alone := k.users == 1 // who comes now waits for the turn
	m.mu.Unlock()
	err = update(ctx, o, dir, alone)
	if denied := (*git.AccessError)(nil); err != nil && ctx.Err() == nil && alone && !errors.As(err, &denied) {
		m.log("the mirror of %s is created again: %v", repository, err) // it may be broken: another one is not
		if err = os.RemoveAll(dir); err == nil {
			err = update(ctx, o, dir, true)
		}
	}
	if err != nil {
		back()
		return "", nil, fmt.Errorf("readying the mirror of %s: %w", repository, err)
	}
	size := files.SizeOf(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	k.size = size
	m.bound()
	return dir, back, nil
}

// update brings a mirror up to date, and tidies it up when no one else borrows from it.
func update(ctx context.Context, o git.Options, dir string, alone bool) error {
	repository, err := git.OpenMirror(ctx, o, dir)
	if err != nil {
		return err
	}
	if err := repository.Fetch(ctx); err != nil || !alone {
		return err
	}
	return repository.Tidy(ctx)
}

// take notes one more user of a mirror, which may be new.
func (m *Mirrors) take(name string) *mirror {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[name] == nil {
		m.known[name] = &mirror{}
	}
	m.known[name].users++
	return m.known[name]
}

func (m *Mirrors) giveBack(k *mirror, dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.users--
	_ = os.Chtimes(dir, time.Time{}, time.Now()) // at worst it is removed early
	m.bound()
}

// bound removes mirrors until they take no more than they may. The caller holds the lock.
func (m *Mirrors) bound() {
	all, err := filepath.Glob(filepath.Join(m.dir, "*", "HEAD"))
	sum, used := int64(0), map[string]time.Time{}
	for _, file := range all {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		if m.known[name] == nil { // of an earlier server
			m.known[name] = &mirror{size: files.SizeOf(dir)}
		}
		sum += m.known[name].size
		if info, failed := os.Stat(dir); failed == nil && m.known[name].users == 0 {
			used[name] = info.ModTime()
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(used), func(x, y string) int { return used[x].Compare(used[y]) }) {
		if sum > m.most {
			sum -= m.known[name].size
			delete(m.known, name)
			err = errors.Join(err, os.RemoveAll(filepath.Join(m.dir, name)))
		}
	}
	if err != nil {
		m.log("removing a mirror: %v", err)
	}
}
