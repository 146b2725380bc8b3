// Package archive keeps many small files of testdata in one: a txtar archive.
package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"
)

// unended follows the name of a file that has no newline at its end, which txtar cannot hold otherwise.
const unended = " (no newline at the end)"

// read is what the archives that match pattern hold, in order.
func read(t testing.TB, pattern string) (files []txtar.File) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archive is %s: %v", pattern, err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			name, cut := strings.CutSuffix(f.Name, unended)
			if cut {
				f.Data = f.Data[:len(f.Data)-1]
			}
			f.Name = strings.TrimSuffix(filepath.Base(path), ".txtar") + "/" + name
			files = append(files, f)
		}
	}
	return files
}

// Files are what the archives that match pattern hold, by name: what go.txtar has as price/1.txt is go/price/1.txt.
func Files(t testing.TB, pattern string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range read(t, pattern) {
		files[f.Name] = string(f.Data)
	}
	return files
}

// A Case is a file of an archive with those below it: of the case "go/skip", Text is what go.txtar has as skip, and
// Files, by path, what it has as skip/PATH.
type Case struct {
	Name, Text string
	Files      map[string]string
}

// Cases are the cases of the archives that match pattern, in order.
func Cases(t testing.TB, pattern string) []Case {
	t.Helper()
	var all []Case
	at := map[string]int{}
	for _, f := range read(t, pattern) {
		parts := strings.SplitN(f.Name, "/", 3)
		name := parts[0] + "/" + parts[1]
		i, known := at[name]
		if !known {
			i, at[name] = len(all), len(all)
			all = append(all, Case{Name: name, Files: map[string]string{}})
		}
		if len(parts) == 3 {
			all[i].Files[parts[2]] = string(f.Data)
		} else {
			all[i].Text = string(f.Data)
		}
	}
	return all
}

var writing sync.Mutex // tests that run at the same time write to one archive

// Put writes files into the archive at path, in the place of the file or directory called name; their names are
// whole ones. A content that the archive could not give back unchanged is an error.
func Put(path, name string, files ...txtar.File) error {
	writing.Lock()
	defer writing.Unlock()
	a, err := txtar.ParseFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = &txtar.Archive{}, nil
	}
	if err != nil {
		return err
	}
	old := func(f txtar.File) bool {
		known := strings.TrimSuffix(f.Name, unended)
		return known == name || strings.HasPrefix(known, name+"/")
	}
	at := slices.IndexFunc(a.Files, old)
	if at < 0 {
		at = len(a.Files)
	}
	for i, f := range files {
		if len(f.Data) > 0 && f.Data[len(f.Data)-1] != '\n' {
			files[i] = txtar.File{Name: f.Name + unended, Data: append(slices.Clip(f.Data), '\n')}
		}
	}
	a.Files = slices.Insert(slices.DeleteFunc(a.Files, old), at, files...)
	text := txtar.Format(a)
	if !slices.EqualFunc(txtar.Parse(text).Files, a.Files, func(x, y txtar.File) bool {
		return x.Name == y.Name && string(x.Data) == string(y.Data)
	}) {
		return fmt.Errorf("%s: a line of %s looks like the marker of a file", path, name)
	}
	return errors.Join(os.WriteFile(path+".new", text, 0o644), os.Rename(path+".new", path)) // others read meanwhile
}
