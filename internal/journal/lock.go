package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// LockFile is the lock's name at the top of the worktree that it guards; it holds the owner's process number and a
// newline.
const LockFile = ".ralph.lock"

// Lock takes the worktree that dir is in for this process; outside of a clone it takes dir alone. The kernel keeps
// the lock and drops it when the process ends, however it ends. The number in the file is only for people to read.
//
// In a clone two files are locked: LockFile at the top of the worktree, and one in the worktree's git directory. An
// agent that cleans the worktree (git clean -fdx) removes the first one, and the second one still keeps others out.
//
// The error is a *HeldError when someone else has the lock, or a sentence that says what is in its place. log gets
// a sentence when a lock is taken over that a dead process has left. unlock gives the lock back, and removes LockFile
// only when it is still ours.
func Lock(dir string, log func(format string, args ...any)) (unlock func(), err error) {
	place, err := placeOf(dir)
	if err != nil {
		return nil, fmt.Errorf("taking the lock: %w", err)
	}
	return lockAll(place.top, log, func() ([]*lockFile, error) { return place.take(log) })
}

// LockIn takes one name in a directory of ours for this process, as Lock takes a worktree: a file in it, which is removed
// when unlock is called.
func LockIn(dir, name string, log func(format string, args ...any)) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("taking the lock: %w", err)
	}
	return lockName(dir, name, log)
}

func lockName(dir, name string, log func(format string, args ...any)) (unlock func(), err error) {
	return lockAll(filepath.Join(dir, name), log, func() ([]*lockFile, error) {
		f, err := takeFile(dir, name)
		if err != nil {
			return nil, err
		}
		return []*lockFile{f}, nil
	})
}

// lockAll takes what is known by a path, with files that take locks, those also that it returns with an error.
func lockAll(what string, log func(format string, args ...any), take func() ([]*lockFile, error)) (unlock func(),
	err error) {
	if _, held := ours.LoadOrStore(what, true); held { // opening the files once more would drop a part of our own lock
		return nil, &HeldError{os.Getpid()}
	}
	files, err := take()
	unlock = func() {
		for _, f := range slices.Backward(files) {
			f.release()
		}
		ours.Delete(what)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	logTakeover(files, log)
	for _, f := range files {
		claim(f.file)
	}
	return unlock, nil
}

// take locks the files: the one in the git directory first, so that who does not get it leaves nothing at the top. With
// an error it returns those that it has locked.
func (p lockPlace) take(log func(format string, args ...any)) (files []*lockFile, err error) {
	if p.gitDir != "" {
		f, err := takeFile(p.gitDir, gitLock)
		switch {
		case err == nil:
			files = append(files, f)
		case unwritable(err):
			log("the second lock, in %s, cannot be taken (%v): while this run is running, do not remove %s", p.gitDir, err,
				LockFile)
		default:
			return nil, err
		}
	}
	f, err := takeFile(p.top, LockFile)
	if err != nil {
		return files, err
	}
	return append(files, f), nil
}

// logTakeover says that a lock was there whose owner is gone.
func logTakeover(files []*lockFile, log func(format string, args ...any)) {
	for _, f := range slices.Backward(files) {
		switch {
		case f.left > 0:
			log("the lock of process %d is taken over: that process ended without giving it back", f.left)
			return
		case f.leftText != "":
			log("a lock file is taken over: no process holds it")
			return
		}
	}
}

// lockFile is a file that this process has locked.
type lockFile struct {
	root     *os.Root // its directory
	name     string   // from there
	file     *os.File
	left     int    // the process that left the file behind, or 0
	leftText string // what was in the file
}

func (f *lockFile) path() string { return filepath.Join(f.root.Name(), filepath.FromSlash(f.name)) }

// takeFile opens a file of dir, making it when it does not exist, locks it, and writes our number into it.
func takeFile(dir, name string) (*lockFile, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("taking the lock: %w", err)
	}
	f := &lockFile{root: root, name: name}
	if err := f.take(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// How often a file is tried whose owner the system does not know: it may be about to say who it is, or has just removed
// the file.
const (
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// take locks the file. It is a *HeldError when another process has it.
func (f *lockFile) take() error {
	for range lockTries {
		if err := f.try(); !errors.Is(err, errAgain) {
			return err
		}
		time.Sleep(lockPause)
	}
	return &HeldError{f.written()}
}

var errAgain = errors.New("try again")

// try locks the file once. It is errAgain when someone has it who cannot be named yet, and when the file that was
// opened has been removed before it was locked.
func (f *lockFile) try() error {
	if err := f.open(); err != nil {
		return err
	}
	err := f.lock()
	if err == nil {
		err = f.sign()
	}
	if err != nil {
		_ = f.file.Close()
	}
	return err
}

func (f *lockFile) lock() error {
	if owner, locked := lockedBy(f.file); owner > 0 {
		return &HeldError{owner}
	} else if locked {
		return &HeldError{pidIn(f.file)}
	}
	got, err := tryLock(f.file)
	switch {
	case err != nil:
		return lockError(f.path(), err)
	case !got || !is(f.root, f.name, f.file):
		return errAgain
	}
	return nil
}

// open opens the file and nothing else: opening a link that someone planted would write to another file, and opening a
// pipe would wait.
func (f *lockFile) open() error {
	if above := filepath.Dir(f.name); above != "." {
		if err := f.root.MkdirAll(above, 0o755); err != nil {
			return fmt.Errorf("taking the lock %s: %w", f.path(), err)
		}
	}
	info, err := f.root.Lstat(f.name)
	if err == nil && (!info.Mode().IsRegular() || names(info) > 1) {
		return fmt.Errorf("taking the lock: %s is not a regular file: remove it", f.path())
	}
	f.file, err = openPlain(f.root, f.name, os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		return nil
	}
	if unwritable(err) && f.lockedByOthers() {
		return &HeldError{f.written()}
	}
	return fmt.Errorf("taking the lock %s: %w", f.path(), err)
}

// lockedByOthers reports whether someone has a file that we may read and not write to.
func (f *lockFile) lockedByOthers() bool {
	file, err := openPlain(f.root, f.name, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	got, err := tryLock(file)
	return err == nil && !got
}

// written is the number that is in the file.
func (f *lockFile) written() int {
	file, err := openPlain(f.root, f.name, os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer file.Close()
	return pidIn(file)
}

// sign writes our number into the file, and keeps what was there.
func (f *lockFile) sign() error {
	before := make([]byte, 32)
	n, err := f.file.ReadAt(before, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the lock %s: %w", f.path(), err)
	}
	f.left, f.leftText = parsePID(before[:n]), strings.TrimSpace(string(before[:n]))
	mine := strconv.Itoa(os.Getpid()) + "\n"
	if _, err = f.file.WriteAt([]byte(mine), 0); err == nil {
		err = f.file.Truncate(int64(len(mine)))
	}
	if err != nil {
		return fmt.Errorf("writing the lock %s: %w", f.path(), err)
	}
	return nil
}

// release gives the file back. It is removed before it is unlocked, so that no one locks a file that is about to go.
func (f *lockFile) release() {
	mine := pidIn(f.file) == os.Getpid() && is(f.root, f.name, f.file)
	remove := func() bool { return f.name != gitLock && mine && f.root.Remove(f.name) == nil }
	removed := remove()
	if mine && f.name == gitLock {
		_ = f.file.Truncate(0)
	}
	_ = f.file.Close()
	// which removes no open file, and fails when another process has it open by now
	if !removed && runtime.GOOS == "windows" {
		remove()
	}
	_ = f.root.Close()
}

func pidIn(file *os.File) int {
	text := make([]byte, 32)
	n, _ := file.ReadAt(text, 0)
	return parsePID(text[:n])
}

func parsePID(text []byte) int {
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// unwritable reports whether a file could not be made or opened because no one of our kind may write there.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// lockError says what to do where a file cannot be locked.
func lockError(path string, err error) error {
	if withoutLocks(err) {
		return fmt.Errorf("taking the lock: the file system of %s keeps no locks (%w), so nothing would keep a second run "+
			"out: work in a directory on a local disk", path, err)
	}
	return fmt.Errorf("taking the lock %s: %w", path, err)
}

// ours are the tops of the worktrees, and the files, that this process has locked.
var ours sync.Map

// gitLock is the lock in a git directory. The file stays when the lock is given back, empty.
const gitLock = "ralph/lock"

// lockPlace is where the locks of a directory are.
type lockPlace struct {
	top    string // the top of the worktree; outside of a clone the directory itself. Absolute, without links
	gitDir string // the git directory of that worktree alone; empty outside of a clone
}

// placeOf finds the worktree that a directory is in. It reads files and starts no git.
func placeOf(dir string) (lockPlace, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return lockPlace{}, err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if gitDir := gitDirAt(at); gitDir != "" {
			return lockPlace{at, gitDir}, nil
		}
		if at == filepath.Dir(at) {
			return lockPlace{top: dir}, nil
		}
	}
}

// gitDirAt is the git directory of a worktree whose top is at; empty when at is no top. In a linked worktree and in a
// submodule, .git is a file that names it.
func gitDirAt(at string) string {
	name := filepath.Join(at, ".git")
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return ""
	case info.Mode().IsRegular():
		name = namedGitDir(at, name)
	case !info.IsDir():
		return ""
	}
	if _, err := os.Lstat(filepath.Join(name, "HEAD")); err != nil {
		return "" // an empty directory of that name is no clone, for git neither
	}
	return name
}

// namedGitDir reads the file of a worktree that names its git directory.
func namedGitDir(at, name string) string {
	file, err := plain(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 8<<10))
	dir, found := strings.CutPrefix(string(text), "gitdir: ")
	dir = strings.TrimRight(dir, "\r\n")
	if err != nil || !found || dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(at, dir)
	}
	return dir
}

// Owner is what is known of the process that has a directory.
type Owner struct {
	Dir   string // where the lock is: the top of the worktree, absolute and without links
	PID   int    // the process that has the lock, or the one that an abandoned lock names; 0: there is no lock
	Alive bool   // a process of that number lives
	// Holds says that it is the very process that took the lock, and not a later one of its number, nor one that someone
	// else wrote there: the system says so.
	Holds bool
	// Elsewhere says that someone has the lock who cannot be seen from here: a process of another container or machine.
	Elsewhere bool
}

// LockOwner says who has the worktree that dir is in, or dir itself outside of a clone. It takes no lock, and drops none:
// a process that asks after its own lock gets the answer without a file being opened.
func LockOwner(dir string) (Owner, error) {
	place, err := placeOf(dir)
	if err != nil {
		return Owner{}, fmt.Errorf("looking for the lock: %w", err)
	}
	o, known := Owner{PID: os.Getpid(), Alive: true, Holds: true}, false
	if _, known = ours.Load(place.top); !known && place.gitDir != "" {
		o, err = ownerOf(place.gitDir, gitLock)
		known = err == nil && (o.Holds || o.Elsewhere) // what agents can reach less easily says more
	}
	if !known {
		o, err = ownerOf(place.top, LockFile)
	}
	o.Dir = place.top
	return o, err
}

// OwnerIn says who has a name in a directory of ours, as LockIn takes it.
func OwnerIn(dir, name string) (Owner, error) {
	if _, known := ours.Load(filepath.Join(dir, name)); known {
		return Owner{Dir: dir, PID: os.Getpid(), Alive: true, Holds: true}, nil
	}
	o, err := ownerOf(dir, name)
	if o.Dir = dir; errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return o, err
}

// ownerOf is what one lock says.
func ownerOf(dir, name string) (o Owner, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return o, fmt.Errorf("looking for the lock: %w", err)
	}
	defer root.Close()
	file, err := openPlain(root, name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("reading the lock: %w", err)
	}
	defer file.Close()
	return has(file, pidIn(file)), nil
}

// has is the owner of a file in which a number is written. The system's word counts before that number, which anyone
// can change.
func has(file *os.File, written int) Owner {
	owner, locked := lockedBy(file)
	switch {
	case owner > 0:
		return Owner{PID: owner, Alive: true, Holds: true}
	case written == 0:
		return Owner{} // which the next run takes over
	case !tellsLocks, locked && !tellsOwner:
		return Owner{PID: written, Alive: alive(written), Holds: alive(written), Elsewhere: tellsLocks && !alive(written)}
	}
	return Owner{PID: written, Alive: alive(written), Elsewhere: locked}
}

// HeldError is a lock that another process has. PID is the number of that process, 0 when no one can tell.
type HeldError struct{ PID int }

func (e *HeldError) Error() string {
	return fmt.Sprintf("ERROR: Another Ralph loop active (PID %d)", e.PID)
}

// is reports whether a name still means the open file.
func is(root *os.Root, name string, file *os.File) bool {
	there, err := root.Lstat(name)
	if err != nil {
		return false
	}
	open, err := file.Stat()
	return err == nil && os.SameFile(there, open)
}
