package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/config"
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

// Show prints the merged settings with the origin of each value and without secrets. Its error holds every problem of the files.
func (s *Settings) Show(ctx context.Context) error {
	layers, err := settingsFiles(top(ctx, s.Dir, s.Parent))
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

// top is where a clone keeps its settings; outside of one it is the directory itself.
func top(ctx context.Context, dir string, parent []string) string {
	if found, err := git.Top(ctx, dir, parent); err == nil {
		return found
	}
	return dir
}

// mostSettings bounds what is read of a file; the loader refuses less than that.
const mostSettings = 2 << 20

// settingsFiles are the layers below the flags: those of the two files that are there.
func settingsFiles(dir string) ([]config.Layer, error) {
	var layers []config.Layer
	for _, name := range []string{config.SettingsFile, config.LocalSettingsFile} {
		content, err := readSome(filepath.Join(dir, name)) // the user's own settings
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, invalid.Errorf("reading %s: %w", name, mending(err))
		}
		layers = append(layers, config.Layer{Name: name, JSON: content})
	}
	return layers, nil
}

// readSome reads a file that is one, up to mostSettings.
func readSome(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, notRegular(info))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, mostSettings))
}

func notRegular(info fs.FileInfo) error {
	switch {
	case info == nil:
		return nil
	case info.IsDir():
		return errors.New("it is no file but a directory; move it away")
	}
	return errors.New("it is no file but a pipe or a device; move it away")
}

// mending adds to an error of the file system what to do about it, where a person can.
func mending(err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %s must be a directory; move away what is there", err, filepath.Dir(config.SettingsFile))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run ralph as a user who may read and write there", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; run ralph where it may write", err)
	}
	return err
}
