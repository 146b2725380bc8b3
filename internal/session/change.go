package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// Change is one key of a settings file that gets another value, or none.
type Change struct {
	Key, Value string
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
	if c.Unset {
		now = c.Key + " is not set"
	}
	_, err := fmt.Fprintf(s.Out, "%s: %s\n", layer.Name, now)
	return err
}

// Ignored keeps everything out of git that is not meant for everybody: logs, prompts, runs, settings.local.json.
const Ignored = "# written by ralph init: settings.json and tasks are for everybody, all else here is of this " +
	"clone\n*\n!.gitignore\n!settings.json\n!tasks/\n!tasks/**\n"

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
