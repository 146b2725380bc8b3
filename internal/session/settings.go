package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
)

// Settings shows what the settings files add up to.
type Settings struct {
	Env    config.Environment
	Parent []string
	Dir    string // the current directory
	Out    io.Writer
	JSON   bool // print JSON for programs instead of a settings file with comments
}

// Show prints the merged settings with the origin of each value and without secrets. Its error holds every problem of
// the files.
func (s *Settings) Show(ctx context.Context) error {
	layers, err := SettingsFiles(Top(ctx, s.Dir, s.Parent), s.Parent)
	if err != nil {
		return err
	}
	explained, err := config.Explain(layers...)
	if err != nil {
		return err
	}
	write := explained.JSONC
	if s.JSON {
		write = explained.JSON
	}
	text, err := write(report.Redactor(s.Env.Secrets()))
	if err != nil {
		return err
	}
	_, err = s.Out.Write(text)
	return err
}

// Top is where a clone keeps its settings; outside of one it is the directory itself.
func Top(ctx context.Context, dir string, parent []string) string {
	if found, err := git.Top(ctx, dir, parent); err == nil {
		return found
	}
	return dir
}

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
// one. A file in the clone that someone works in is no user's own: whoever writes there, such as an agent, would
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

// liesIn reports whether a path is in a directory.
func liesIn(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// Change is one key of a settings file that gets another value, or none.
type Change struct {
	Key, Value string
	From       string // the file that has the value, or an object with it under Key; "" if Value is it
	Unset      bool
	User       bool // in the user's own file instead of the repository's
}

// Change writes it, once all files together are valid with it. Its error says what is wrong with the key, the value or
// a file.
func (s *Settings) Change(ctx context.Context, c Change) error {
	top := Top(ctx, s.Dir, s.Parent)
	layer, file := config.Layer{Name: config.SettingsFile}, filepath.Join(top, config.SettingsFile)
	var err error
	if c.User {
		layer, file, err = userLayer(top, s.Parent)
		if err == nil && file == "" {
			err = invalid.Errorf("there is no place for settings of your own: they would lie in this clone, or the " +
				"environment names no home directory; set XDG_CONFIG_HOME or HOME to a directory outside of it")
		}
	} else if layer.JSON, err = files.Read(file); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	if c.From != "" {
		if c.Value, err = c.read(s.Dir); err != nil {
			return err
		}
	}
	if c.Unset {
		layer.JSON, err = layer.Unset(c.Key)
	} else {
		layer.JSON, err = layer.Set(c.Key, c.Value)
	}
	if err != nil {
		return err
	}
	if err := s.valid(top, layer); err != nil {
		return err
	}
	return s.write(file, layer, c)
}

// read is the value that a file has.
func (c Change) read(dir string) (string, error) {
	file := c.From
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	text, err := files.Read(file)
	if err != nil {
		return "", invalid.Errorf("reading %s: %w", c.From, files.Advise(err))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil && object[c.Key] != nil {
		text = object[c.Key]
	}
	return string(text), nil
}

// valid holds all layers together, one of them as it would be.
func (s *Settings) valid(top string, changed config.Layer) error {
	layers, err := SettingsFiles(top, s.Parent)
	if err != nil {
		return err
	}
	for i := range layers {
		if layers[i].Name == changed.Name {
			layers[i] = changed
			_, err := config.Load(layers...)
			return err
		}
	}
	_, err = config.Load(append(layers, changed)...)
	return err
}

func (s *Settings) write(file string, layer config.Layer, c Change) error {
	if c.User {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return invalid.Errorf("writing %s: %w", layer.Name, files.Advise(err))
		}
		if at, err := filepath.EvalSymlinks(file); err == nil {
			file = at // it is kept elsewhere, and stays so
		}
		if err := files.Replace(file, layer.JSON); err != nil {
			return invalid.Errorf("writing %s: %w", layer.Name, files.Advise(err))
		}
	} else if err := SaveSettings(file, layer.JSON); err != nil {
		return err
	}
	now := c.Key + " = " + config.Redact(c.Value)
	switch {
	case c.Unset:
		now = c.Key + " is not set"
	case c.From != "":
		now = c.Key + " is what " + c.From + " has"
	}
	_, err := fmt.Fprintf(s.Out, "%s: %s\n", layer.Name, now)
	return err
}

// Ignored keeps everything out of git that is not meant for everyone: logs, prompts, runs, settings.local.json.
const Ignored = "# written by ralph init: settings.json and tasks are shared, everything else is only for this clone\n*\n!.gitignore\n!settings.json\n!tasks/\n!tasks/**\n"

// SaveSettings writes a repository's settings in one step, so that a kill leaves the old file or the new one, and never
// a part; beside them, what keeps all else there out of git.
func SaveSettings(file string, text []byte) error {
	if info, err := os.Lstat(filepath.Dir(file)); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return invalid.Errorf("writing %s: its directory is a link, which may lead anywhere; make it a directory",
			config.SettingsFile)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return invalid.Errorf("writing %s: %w", config.SettingsFile, err)
	}
	ignore := filepath.Join(filepath.Dir(file), ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, os.ErrNotExist) {
		if err := files.Replace(ignore, []byte(Ignored)); err != nil {
			return invalid.Errorf("writing %s: %w", ignore, err)
		}
	}
	if err := files.Replace(file, text); err != nil {
		return invalid.Errorf("writing %s: %w", config.SettingsFile, err)
	}
	return nil
}
