package launch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Mirrors keeps a copy of each repository, from which the jobs' own repositories borrow their objects. Each copy lies
// in a directory with a name that nobody can guess, in one that nobody else can list: agents of one repository do not find
// that of another, though they work as the same user. It is safe for concurrent use by one server.
type Mirrors struct {
	dir  string
	most int64 // bytes
	log  func(format string, args ...any)

	mu    sync.Mutex
	known map[string]*mirror // by the address of the repository
}

// mirror is the copy of one repository.
type mirror struct {
	Name string    `json:"name"` // of its directory
	Used time.Time `json:"used"`
	Size int64     `json:"size"` // bytes

	users int        // jobs that borrow from it
	turn  sync.Mutex // who brings it up to date
}

const mirrorIndex = "index.json"

// OpenMirrors opens the mirrors below a directory, which is made. Together they take about most bytes: those that have
// not been used for longest are removed first, and none that a job borrows from.
func OpenMirrors(dir string, most int64, log func(format string, args ...any)) (*Mirrors, error) {
	if err := errors.Join(os.MkdirAll(dir, 0o711), os.Chmod(dir, 0o711)); err != nil { // said above
		return nil, fmt.Errorf("making a place for mirrors: %w", err)
	}
	m := &Mirrors{dir: dir, most: most, log: log, known: map[string]*mirror{}}
	text, err := os.ReadFile(filepath.Join(dir, mirrorIndex))
	if err == nil {
		err = json.Unmarshal(text, &m.known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log("the mirrors are made anew: reading their list: %v", err)
		m.known = map[string]*mirror{}
	}
	return m, m.dropUnknown()
}

// dropUnknown removes directories that are not in the list.
func (m *Mirrors) dropUnknown() error {
	names := map[string]bool{mirrorIndex: true}
	for url, k := range m.known {
		if k == nil || k.Name == "" || filepath.Base(k.Name) != k.Name {
			delete(m.known, url)
			continue
		}
		names[k.Name] = true
	}
	entries, err := os.ReadDir(m.dir)
	for _, e := range entries {
		if !names[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(m.dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("cleaning up the mirrors: %w", err)
	}
	return nil
}

// Borrow brings the mirror of a repository up to date and lends it, until back is called. environ is what git is
// started with.
func (m *Mirrors) Borrow(ctx context.Context, repository string, from git.Remote, environ []string) (dir string,
	back func(), err error) {
	k := m.take(from.URL)
	back = sync.OnceFunc(func() { m.giveBack(k) })
	o := git.Options{Remote: from, Env: proc.Environment(environ, proc.Allowed), Log: m.log}
	k.turn.Lock()
	defer k.turn.Unlock()
	dir = filepath.Join(m.dir, k.Name)
	if err = update(ctx, o, dir, m.alone(k)); err != nil && ctx.Err() == nil && m.alone(k) {
		var denied *git.AccessError
		if !errors.As(err, &denied) { // it may be broken: another one is not
			m.log("the mirror of %s is made anew: %v", repository, err)
			if err = os.RemoveAll(dir); err == nil {
				err = update(ctx, o, dir, true)
			}
		}
	}
	if err != nil {
		back()
		return "", nil, fmt.Errorf("readying the mirror of %s: %w", repository, err)
	}
	m.settle(k, dir)
	return dir, back, nil
}

// update brings a mirror up to date, and tidies it up when nobody else borrows from it.
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
func (m *Mirrors) take(url string) *mirror {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[url]
	if k == nil {
		k = &mirror{Name: rand.Text()}
		m.known[url] = k
	}
	k.users++
	k.Used = time.Now().UTC()
	m.save()
	return k
}

func (m *Mirrors) giveBack(k *mirror) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.users--
	k.Used = time.Now().UTC()
	m.bound()
	m.save()
}

// alone reports whether one job alone uses a mirror.
func (m *Mirrors) alone(k *mirror) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return k.users == 1
}

// settle notes how large a mirror has become, and makes room for it.
func (m *Mirrors) settle(k *mirror, dir string) {
	size := sizeOf(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	k.Size = size
	m.bound()
	m.save()
}

// bound removes mirrors until they take no more than they may. The caller holds the lock.
func (m *Mirrors) bound() {
	for {
		var sum int64
		var oldest string
		for url, k := range m.known {
			sum += k.Size
			if k.users == 0 && (oldest == "" || k.Used.Before(m.known[oldest].Used)) {
				oldest = url
			}
		}
		if sum <= m.most || oldest == "" {
			return
		}
		if err := os.RemoveAll(filepath.Join(m.dir, m.known[oldest].Name)); err != nil {
			m.log("removing a mirror: %v", err)
		}
		delete(m.known, oldest)
	}
}

// save writes the list down. The caller holds the lock.
func (m *Mirrors) save() {
	text, err := json.Marshal(m.known)
	if err == nil {
		name := filepath.Join(m.dir, mirrorIndex)
		err = errors.Join(os.WriteFile(name+".new", text, 0o600), os.Rename(name+".new", name))
	}
	if err != nil { // after a restart they are made anew
		m.log("writing down the list of mirrors: %v", err)
	}
}

// sizeOf is how many bytes the files below a directory have.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}
