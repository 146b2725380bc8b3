package sandbox

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
)

// look takes the stamps of the worktree's files. Objects of git are never written anew, and packages are not ours to
// write.
func (m *microVM) look() map[string]stamp {
	seen := map[string]stamp{}
	top := m.dir
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(top, path); {
		case err != nil:
			return nil
		case d.IsDir() && (rel == ".git/objects" || d.Name() == "node_modules" || rel == ".ralph/runs"):
			return fs.SkipDir
		case !d.IsDir():
			if info, err := d.Info(); err == nil {
				seen[rel] = stamp{info.Size(), info.ModTime(), info.Mode()}
			}
		}
		return nil
	})
	return seen
}

// packed is an archive of files and links.
func packed(dir string, names []string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		target := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if target, err = root.Readlink(name); err != nil {
				return nil, err
			}
		case !info.Mode().IsRegular():
			continue
		}
		header, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return nil, err
		}
		header.Name, header.Uname, header.Gname, header.Uid, header.Gid = name, "", "", 0, 0
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if target != "" {
			continue
		}
		content, err := files.ReadIn(root, name, info.Size())
		if err != nil || int64(len(content)) != info.Size() {
			return nil, fmt.Errorf("reading %s: it changes", name)
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
