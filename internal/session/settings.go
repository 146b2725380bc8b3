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
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/report"
)

// ShowSettings prints the merged settings with the origin of each value and without secrets: one a
// line, or as JSON for programs. Its error has every problem of the files.
func (s *Session) ShowSettings(ctx context.Context, asJSON bool) error {
	layers, err := SettingsFiles(Top(s.Dir), s.Parent)
	if err != nil {
		return err
	}
	explained, err := config.Explain(layers...)
	if err != nil {
		return err
	}
	redact := report.Redactor(s.Env.Secrets())
	text, err := explained.Text(redact)
	if asJSON {
		var object []byte
		object, err = explained.JSON(redact)
		text = string(object)
	}
	if err == nil {
		_, err = io.WriteString(s.Out, text)
	}
	return err
}

// Change is one key of a settings file that gets another value, or none.
type Change struct {
	Key, Value string
	From       string // the file that has the value, or an object with it under Key; "" if Value is it
	Unset      bool
	User       bool // in the user's own file instead of the repository's
}

// ChangeSettings writes it, once all files together are valid with it. Its error says what is wrong with the key, the
// value or a file.
func (s *Session) ChangeSettings(ctx context.Context, c Change) error {
	top := Top(s.Dir)
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
	if err == nil && c.From != "" {
		c.Value, err = c.read(s.Dir)
	}
	if err != nil {
		return err
	}
	now := c.Key + " = " + config.Redact(c.Value)
	if c.Unset {
		layer.JSON, err = layer.Unset(c.Key)
		now = c.Key + " is not set"
	} else {
		layer.JSON, err = layer.Set(c.Key, c.Value)
	}
	if c.From != "" {
		now = c.Key + " is what " + c.From + " has"
	}
	if err == nil {
		err = valid(top, s.Parent, layer)
	}
	if err == nil && c.User {
		err = saveUserSettings(file, layer)
	} else if err == nil {
		err = SaveSettings(file, layer.JSON)
	}
	if err == nil {
		_, err = fmt.Fprintf(s.Out, "%s: %s\n", layer.Name, now)
	}
	return err
}

// read is the value that a file has.
func (c Change) read(dir string) (string, error) {
	text, err := ReadNamed(dir, c.From)
	if err != nil {
		return "", invalid.Errorf("reading %s: %w", c.From, files.Advise(err))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil && object[c.Key] != nil {
		text = object[c.Key]
	}
	return string(text), nil
}

// valid validates all layers together, with one of them as it would be.
func valid(top string, env []string, changed config.Layer) error {
	layers, err := SettingsFiles(top, env)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(layers, func(l config.Layer) bool { return l.Name == changed.Name })
	if i < 0 {
		i, layers = len(layers), append(layers, config.Layer{})
	}
	layers[i] = changed
	_, err = config.Load(layers...)
	return err
}

func saveUserSettings(file string, layer config.Layer) error {
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil { // a link stays one: the file is kept elsewhere
		err = files.Replace(realPath(file), layer.JSON)
	}
	if err != nil {
		return invalid.Errorf("writing %s: %w", layer.Name, files.Advise(err))
	}
	return nil
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
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	ignore := filepath.Join(filepath.Dir(file), ".gitignore")
	if _, none := os.Lstat(ignore); err == nil && errors.Is(none, os.ErrNotExist) {
		err = files.Replace(ignore, []byte(Ignored))
	}
	if err == nil {
		err = files.Replace(file, text)
	}
	if err != nil {
		return invalid.Errorf("writing %s: %w", config.SettingsFile, err)
	}
	return nil
}
