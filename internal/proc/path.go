package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Why a program cannot be run.
var (
	ErrNotFound      = errors.New("not found")
	ErrNotExecutable = errors.New("not executable")
)

// LookPath finds a program by the PATH in env; a name with a slash is its path. Entries of PATH that are not absolute
// are skipped, so a program never comes from the tree we happen to be in. The error wraps ErrNotFound or
// ErrNotExecutable.
func LookPath(name string, env []string) (string, error) { return lookPath(name, env, "") }

// lookPath takes a relative path from dir.
func lookPath(name string, env []string, dir string) (string, error) {
	if filepath.Base(name) != name {
		path := name
		if dir != "" && !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		return program(path)
	}
	worst := fmt.Errorf("%s: %w on PATH", name, ErrNotFound)
	for _, dir := range filepath.SplitList(Value(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := program(filepath.Join(dir, name))
		if err == nil {
			return path, nil
		}
		// a directory that we may not look into has nothing for us
		if errors.Is(err, ErrNotExecutable) && !errors.Is(err, os.ErrPermission) {
			worst = err
		}
	}
	return "", worst
}

func program(path string) (string, error) {
	if runtime.GOOS == "windows" { // which knows programs by their endings
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, ErrNotFound)
		}
		return found, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil && (errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "not a directory")):
		return "", fmt.Errorf("%s: %w", path, ErrNotFound)
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrNotExecutable, err)
	case info.IsDir() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("%s: %w", path, ErrNotExecutable)
	}
	return path, nil
}
