package git

import (
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Footprint tells a directory's files from what someone makes of them later, by their paths and stamps alone. It takes
// some twenty bytes a file: a folder of packages has a hundred thousand.
type Footprint struct {
	paths []string
	files map[uint64]uint64
}

var footprintSeed = maphash.MakeSeed()

// FootprintOf looks at paths in a directory and all that is in them. A path that does not exist is no error.
func FootprintOf(dir string, paths []string) Footprint {
	f := Footprint{paths: slices.Clone(paths), files: map[uint64]uint64{}}
	walkPaths(dir, paths, func(name string, info fs.FileInfo) { f.files[footOf(name)] = markOf(info) })
	return f
}

// Differs names what is there now and was not, and whether something that was there is changed or gone.
func (f Footprint) Differs(dir string) (added []string, changed bool) {
	same := 0
	walkPaths(dir, f.paths, func(name string, info fs.FileInfo) {
		was, known := f.files[footOf(name)]
		switch {
		case !known:
			added = append(added, name)
		case was == markOf(info):
			same++
		default:
			changed = true
		}
	})
	return added, changed || same < len(f.files)
}

func footOf(name string) uint64 { return maphash.String(footprintSeed, name) }

// markOf is a file's stamp as a number. Of a directory it is that it is one.
func markOf(info fs.FileInfo) uint64 {
	if info.IsDir() {
		return uint64(info.Mode())
	}
	return maphash.Comparable(footprintSeed, stampFrom(info))
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

// stamp tells one state of a file from every other, without its content: whoever changes it changes this. The time of
// change is set by the system alone, where the system tells it.
type stamp struct {
	inode, size, modified, changed int64
	mode                           fs.FileMode
}

func stampFrom(info fs.FileInfo) stamp {
	return stamp{inode: inodeOf(info), size: info.Size(), modified: info.ModTime().UnixNano(), changed: changeTime(info),
		mode: info.Mode()}
}
