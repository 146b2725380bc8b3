package git

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// snapshotOf is what the files of a directory look like, without their contents: whoever changes one changes this.
type snapshotOf map[string]string

// look takes a snapshot. Of directories only their being there and their modes count, and git's index not at all, since
// reading commands refresh it where they may.
func look(dir, index string) (snapshotOf, error) {
	seen := snapshotOf{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == index {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if seen[name] = info.Mode().String(); !info.IsDir() {
			seen[name] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changeTime(info))
		}
		return nil
	})
	return seen, err
}

// changes names what differs, in order.
func (s snapshotOf) changes(now snapshotOf) (names []string) {
	for _, name := range union(s, now) {
		if s[name] != now[name] {
			names = append(names, name)
		}
	}
	return names
}

func union(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
