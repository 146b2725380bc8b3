package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
)

// SettingsFiles are the layers below the flags: the user's own, which the environment leads to, and those of the two
// files of a directory, where they are there. A bot never asks for them.
func SettingsFiles(dir string, env []string) ([]config.Layer, error) {
	var layers []config.Layer
	own, _, err := userLayer(dir, env)
	if err != nil {
		return nil, err
	}
	if own.JSON != nil {
		layers = append(layers, own)
	}
	for _, name := range []string{config.SettingsFile, config.LocalSettingsFile} {
		content, err := files.Read(filepath.Join(dir, name)) // the user's own settings
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, invalid.Errorf("reading %s: %w", name, files.Advise(err))
		}
		layers = append(layers, config.Layer{Name: name, JSON: content})
	}
	return layers, nil
}

// userLayer is the layer of the user's settings, with what is in the file as yet; of is "" without a place for one. A
// file in the clone is not a user's own: an agent that writes there could set what no repository can set.
func userLayer(dir string, env []string) (l config.Layer, of string, err error) {
	of = userSettings(runtime.GOOS, env)
	if clone := Top(dir); of == "" || liesIn(clone, filepath.Dir(of)) || liesIn(clone, of) {
		return l, "", nil
	}
	l = config.Layer{Name: short(of, env), User: true}
	l.JSON, err = files.Read(of)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, of, invalid.Errorf("reading %s: %w", l.Name, files.Advise(err))
	}
	return l, of, nil
}

// userDirs are the variables that lead to a directory of the user, in order, and what follows, by the system.
type userDirs map[string][]struct{ name, below string }

var (
	stateDirs = userDirs{ // what programs want to find again
		"linux":   {{"XDG_STATE_HOME", ""}, {"HOME", ".local/state"}},
		"darwin":  {{"HOME", "Library/Application Support"}},
		"windows": {{"LOCALAPPDATA", ""}, {"LocalAppData", ""}},
	}
	configDirs = userDirs{ // as os.UserConfigDir has them
		"linux":   {{"XDG_CONFIG_HOME", ""}, {"HOME", ".config"}},
		"darwin":  {{"HOME", "Library/Application Support"}},
		"windows": {{"APPDATA", ""}, {"AppData", ""}},
	}
)

// in is the directory on a system, by the environment; "" if the environment names none.
func (d userDirs) in(system string, env []string) string {
	dirs, ok := d[system]
	if !ok {
		dirs = d["linux"]
	}
	for _, at := range dirs {
		if dir := proc.Value(env, at.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(at.below))
		}
	}
	return ""
}

// StateDir is where a system's programs keep what they want to find again, by the environment.
func StateDir(system string, env []string) (string, error) {
	if dir := stateDirs.in(system, env); dir != "" {
		return dir, nil
	}
	return "", errors.New("the environment names no home directory")
}

// userSettings is the file of a user's own settings, which holds for all clones; "" if the environment names no home.
func userSettings(system string, env []string) string {
	dir := configDirs.in(system, env)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "ralph", "settings.json")
}

// Top is the top of the clone that a directory is in, where its settings are; outside of one it is the directory itself.
func Top(dir string) string {
	for at := realPath(dir); ; at = filepath.Dir(at) {
		if engine.Exists(filepath.Join(at, ".git")) {
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

// liesIn reports whether a path is in a directory.
func liesIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// realPath is a path without links, if it exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
