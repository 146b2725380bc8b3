package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// tell writes what has changed here since the last look to the machine.
func (m *microVM) tell(ctx context.Context) error {
	now := m.look()
	m.mu.Lock()
	before := m.seen
	m.seen = now
	m.mu.Unlock()
	var changed, gone []string
	var size int64
	for name, at := range now {
		if before[name] != at {
			changed = append(changed, name)
			size += at.size
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			gone = append(gone, "./"+name)
		}
	}
	if size > mostWritten || len(gone) > 1000 {
		return m.restart(ctx)
	}
	slices.Sort(changed)
	slices.Sort(gone)
	if len(gone) > 0 {
		if _, err := m.ask(ctx, askLimit, nil, append([]string{"exec", "-w", m.dir, m.name, "rm", "-f", "--"}, gone...)...); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	packed, err := packed(m.dir, changed)
	if err != nil {
		return err
	}
	_, err = m.ask(ctx, createLimit, bytes.NewReader(packed), "exec", "-i", "-w", m.dir, m.name, "tar", "-x", "-f", "-")
	return err
}

// packed is an archive of files and links.
func packed(dir string, names []string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		target := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if target, err = os.Readlink(path); err != nil {
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
		content, err := os.ReadFile(path)
		if err != nil || int64(len(content)) != info.Size() {
			return nil, fmt.Errorf("reading %s: it changes", name)
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
