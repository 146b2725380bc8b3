package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
)

// configDirs are the variables that lead to the directory of a user's configuration, in order, and what follows: as
// os.UserConfigDir has them.
var configDirs = map[string][]struct{ name, below string }{
	"linux":   {{"XDG_CONFIG_HOME", ""}, {"HOME", ".config"}},
	"darwin":  {{"HOME", "Library/Application Support"}},
	"windows": {{"APPDATA", ""}, {"AppData", ""}},
}

// userSettings is the file of a user's own settings, which holds for all clones; "" where the environment names no
// home.
func userSettings(system string, env []string) string {
	dirs, ok := configDirs[system]
	if !ok {
		dirs = configDirs["linux"]
	}
	for _, at := range dirs {
		if dir := proc.Value(env, at.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(at.below), "ralph", "settings.json")
		}
	}
	return ""
}

// userLayer is the layer of the user's settings, with what is in the file as yet; of is "" when there is no place for
// one. What lies in the clone that somebody works in is no user's own: whoever writes there, such as an agent, would
// set what no repository may.
func userLayer(dir string, env []string) (l config.Layer, of string, err error) {
	of = userSettings(runtime.GOOS, env)
	if of == "" || liesIn(cloneOf(dir), filepath.Dir(of)) || liesIn(cloneOf(dir), of) {
		return l, "", nil
	}
	l = config.Layer{Name: short(of, env), User: true}
	l.JSON, err = files.Read(of)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, of, invalid.Errorf("reading %s: %w", l.Name, files.Advise(err))
	}
	return l, of, nil
}

// cloneOf is the top of the clone that a directory is in; the directory itself outside of one.
func cloneOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// short names a file as people do: from their home.
func short(path string, env []string) string {
	home := proc.Value(env, "HOME")
	if rel, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// liesIn reports whether a path lies in a directory.
func liesIn(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}
