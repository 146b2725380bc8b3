package fake

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// What earlier versions left behind is kept in testdata/upgrade, as leftovers recorded it.

// Talk is what a recording has of GitHub besides the repository: its issues and pull requests, and by their numbers
// what was said there.
type Talk struct {
	Issues   []Issue
	Pulls    []Pull
	Comments map[int][]Comment
}

// Talk is what was said about a repository.
func (g *GitHub) Talk(owner, name string) Talk {
	talk := Talk{Pulls: g.Pulls(owner, name), Comments: map[int][]Comment{}}
	for _, is := range g.Issues(owner, name) {
		if !is.Pull {
			talk.Issues = append(talk.Issues, is)
		}
		talk.Comments[is.Number] = g.Comments(owner, name, is.Number)
	}
	return talk
}

// Restore makes a repository what a recording of it says: its refs those of remote.git in dir, and what was said that
// of talk.json. Issues come before pull requests, and those that are there already stay.
func (g *GitHub) Restore(owner, name, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "talk.json"))
	if err != nil {
		return err
	}
	var talk Talk
	if err := json.Unmarshal(text, &talk); err != nil {
		return err
	}
	out, err := exec.Command("git", "--git-dir", g.GitDir(owner, name), "fetch", "-q", filepath.Join(dir, "remote.git"),
		"+refs/*:refs/*").CombinedOutput()
	if err != nil {
		return fmt.Errorf("git fetch: %w\n%s", err, out)
	}
	there := len(g.Issues(owner, name))
	for _, is := range talk.Issues {
		if is.Number > there {
			g.AddIssue(owner, name, is)
		}
	}
	for _, p := range talk.Pulls {
		if n := g.AddPull(owner, name, p); n != p.Number {
			return fmt.Errorf("the pull request %d was number %d", n, p.Number)
		}
	}
	for number, comments := range talk.Comments {
		for _, c := range comments {
			g.AddComment(owner, name, number, c)
		}
	}
	return nil
}

// Unpack makes a directory of an archive, a .tar.gz of files and directories.
func Unpack(archive, dir string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for all := tar.NewReader(packed); ; {
		h, err := all.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag == tar.TypeDir:
			err = root.MkdirAll(filepath.Clean(h.Name), 0o755)
		default:
			err = unpackFile(root, h.Name, fs.FileMode(h.Mode).Perm(), all)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, mode fs.FileMode, text io.Reader) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, text)
	return errors.Join(err, file.Close())
}
