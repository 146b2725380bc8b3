package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"time"
)

// SupervisorDir is the environment variable that names the task directory of the supervisor above: a run that has it
// registers there.
const SupervisorDir = "RALPH_SUPERVISOR_DIR"

// Where a supervisor keeps what it knows, in the task directory.
const (
	SuperviseDir = ".ralph/supervise" // its lock, and the output of its attempts
	childrenDir  = ".ralph/children"  // a file for each registered child, named by its process number
	superviseOne = SuperviseDir + "/lock"
)

// manyChildren is how many files one look for children reads: a directory that someone fills costs time, not memory.
const manyChildren = 10_000

// Register makes this process a child of the supervisor whose task directory is dir: it outlives the command that
// started it, and the supervisor waits for it once the task is done. It stays registered until release is called or the
// process ends, however it ends: what counts is a lock that the system keeps for the process. Nothing is kept on
// Windows. Without a supervisor, dir "", it does nothing.
func Register(dir string) (release func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	release, err = register(dir, os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("registering with the supervisor of %s: %w", dir, err)
	}
	return release, nil
}

func register(dir string, pid int) (func(), error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll(childrenDir, 0o700); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	name := path.Join(childrenDir, strconv.Itoa(pid))
	file, err := hold(root, name)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return func() {
		_ = root.Remove(name)
		_ = file.Close()
		_ = root.Close()
	}, nil
}

// Children are the process numbers of those who are registered with the supervisor of dir and alive, ourselves left
// out, ascending. What crashed is forgotten. A number counts only when the system itself says that this process holds
// the file, so no one can name a process that is not his.
func Children(dir string) ([]int, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for children: %w", err)
	}
	defer root.Close()
	list, err := root.Open(childrenDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for children: %w", err)
	}
	defer list.Close()
	names, err := list.Readdirnames(manyChildren)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("looking for children: %w", err)
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && pid > 1 && pid != os.Getpid() && holds(root, path.Join(childrenDir, name), pid) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

// LockSupervisor keeps a second supervisor out of a task directory. Unlike Lock it leaves the directory to the runs in
// it. Its error is a *HeldError when someone has it.
func LockSupervisor(dir string) (unlock func(), err error) {
	return lockName(dir, superviseOne, func(string, ...any) {})
}

// hold opens a file and takes it for this process, for as long as the file is open. It is an error, a *HeldError, when
// another process has it. The lock is a record lock of the whole file: the system ends it with the process, does not
// hand it to children, and says whose it is. Windows does not say that, so nothing is locked there.
func hold(root *os.Root, name string) (*os.File, error) {
	owner := 0
	for range 10 { // who finds a file that no one holds removes it, perhaps this one before we hold it
		file, err := openPlain(root, name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if lock(file) && is(root, name, file) {
			return file, nil
		}
		owner, _ = lockedBy(file)
		_ = file.Close()
		time.Sleep(time.Millisecond)
	}
	if owner > 0 {
		return nil, &HeldError{owner}
	}
	return nil, fmt.Errorf("%s is held by a process that cannot be seen from here, perhaps of another container", name)
}

// holds reports whether a process has the file. A file that no one has is removed.
func holds(root *os.Root, name string, pid int) bool {
	if !tellsLocks {
		return false
	}
	file, err := openPlain(root, name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	owner, locked := lockedBy(file)
	if !locked && lock(file) && is(root, name, file) {
		_ = root.Remove(name)
	}
	return owner == pid
}
