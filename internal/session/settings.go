package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
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
