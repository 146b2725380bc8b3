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
)

// SupervisorDir is the environment variable that names the task directory of the supervisor above: who has it registers
// there.
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
// Windows.
func Register(dir string) (release func(), err error) {
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
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("locking the task directory: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(SuperviseDir, 0o755); err != nil {
		return nil, fmt.Errorf("locking the task directory: %w", err)
	}
	file, err := hold(root, superviseOne)
	var held *HeldError
	if errors.As(err, &held) {
		return nil, held
	}
	if err != nil {
		return nil, fmt.Errorf("locking the task directory: %w", err)
	}
	return func() { _ = file.Close() }, nil
}
