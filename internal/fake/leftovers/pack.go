package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// pack writes a directory into an archive. Times and owners are left out, so that it holds nothing of the machine.
func pack(dir, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	archive := tar.NewWriter(packed)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		return add(archive, dir, path, d)
	})
	return errors.Join(err, archive.Close(), packed.Close(), file.Close())
}

func add(archive *tar.Writer, dir, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(name), Mode: int64(info.Mode().Perm())}
	switch {
	case d.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		return archive.WriteHeader(h)
	case !info.Mode().IsRegular() || strings.HasSuffix(name, ".sample"):
		return nil
	}
	text, err := os.Open(path)
	if err != nil {
		return err
	}
	defer text.Close()
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(archive, text)
	return err
}
