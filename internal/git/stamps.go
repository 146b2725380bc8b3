package git

import (
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Footprint is what paths in a directory looked like, without their contents: by path, a number for the inode, the size,
// the mode and the times of a file, or for the mode of a directory. Only the system sets the time of change, where there
// is one.
type Footprint struct {
	paths []string
	but   string // a file that may change; empty: every file counts
	seen  map[string]uint64
}

var stampSeed = maphash.MakeSeed()

// FootprintOf examines paths in a directory and everything in them. A path that does not exist is no error.
func FootprintOf(dir string, paths []string) Footprint {
	return footprint(dir, slices.Clone(paths), "")
}

func footprint(dir string, paths []string, but string) Footprint {
	seen := map[string]uint64{}
	walkPaths(dir, paths, func(name string, info fs.FileInfo) {
		switch {
		case name == but:
		case info.IsDir():
			seen[name] = uint64(info.Mode())
		default:
			inode, changed := systemStamp(info)
			seen[name] = maphash.Comparable(stampSeed,
				[5]int64{inode, info.Size(), info.ModTime().UnixNano(), changed, int64(info.Mode())})
		}
	})
	return Footprint{paths, but, seen}
}

// changes names what is otherwise now, in order.
func (f Footprint) changes(dir string) (names []string) {
	now := footprint(dir, f.paths, f.but).seen
	for _, name := range union(f.seen, now) {
		is, there := now[name]
		if was, known := f.seen[name]; was != is || known != there {
			names = append(names, name)
		}
	}
	return names
}

// Differs names what exists now and did not, and reports whether something that existed has changed or is gone.
func (f Footprint) Differs(dir string) (added []string, changed bool) {
	for _, name := range f.changes(dir) {
		if _, known := f.seen[name]; known {
			changed = true
		} else {
			added = append(added, name)
		}
	}
	return added, changed
}

// walkPaths visits paths in a directory, and everything in them, by names with slashes.
func walkPaths(dir string, paths []string, visit func(name string, info fs.FileInfo)) {
	for _, name := range trimmed(paths) {
		_ = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(at string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what cannot be read is not there
			}
			info, err := os.Lstat(at)
			if err != nil {
				return nil //nolint:nilerr // it has gone meanwhile
			}
			rel, err := filepath.Rel(dir, at)
			if err == nil {
				visit(path.Clean(filepath.ToSlash(rel)), info)
			}
			return nil
		})
	}
}

// paths are names of files and directories.
type paths struct{ names, above map[string]bool }

func newPaths(names []string) paths {
	p := paths{map[string]bool{}, map[string]bool{}}
	for _, name := range names {
		p.names[name] = true
		for at := path.Dir(name); at != "." && !p.above[at]; at = path.Dir(at) {
			p.above[at] = true
		}
	}
	return p
}

// cover reports whether a path is one of these or in one.
func (p paths) cover(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if p.names[name] {
			return true
		}
	}
	return false
}

// below reports whether one of these is in what the path names.
func (p paths) below(name string) bool { return p.above[name] }

func trimmed(names []string) []string {
	return safetext.Map(names, func(name string) string { return strings.TrimSuffix(name, "/") })
}

// behindDirectories reports whether nothing but directories leads to a file: no link, which would lead to another one.
func behindDirectories(root *os.Root, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
