package git

import (
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// stamps tell the files of a directory from what someone makes of them later, without their contents: by path, a number
// for the inode, the size, the mode and the times of a file, or for the mode of a directory. Only the system sets the
// time of change, where there is one.
type stamps map[string]uint64

var stampSeed = maphash.MakeSeed()

// stampsOf examines paths in a directory and everything in them, but one file. A path that does not exist has nothing.
func stampsOf(dir string, paths []string, but string) stamps {
	seen := stamps{}
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
	return seen
}

// changes names what differs, in order.
func (s stamps) changes(now stamps) (names []string) {
	for _, name := range union(s, now) {
		is, there := now[name]
		if was, known := s[name]; was != is || known != there {
			names = append(names, name)
		}
	}
	return names
}

// Footprint is what paths in a directory looked like.
type Footprint struct {
	paths []string
	seen  stamps
}

// FootprintOf examines paths in a directory and everything in them. A path that does not exist is no error.
func FootprintOf(dir string, paths []string) Footprint {
	return Footprint{slices.Clone(paths), stampsOf(dir, paths, "")}
}

// Differs names what exists now and did not, and reports whether something that existed has changed or is gone.
func (f Footprint) Differs(dir string) (added []string, changed bool) {
	for _, name := range f.seen.changes(stampsOf(dir, f.paths, "")) {
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
