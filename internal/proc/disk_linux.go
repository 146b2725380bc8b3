package proc

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// disk is a file system, as some directories see it.
type disk struct {
	device uint64
	dirs   []string // the first is the one that people are told
	used   int64    // bytes when the count began
}

// disksOf are the file systems of some directories. Those that do not exist have none.
func disksOf(dirs []string) (list []*disk) {
	known := map[uint64]*disk{}
	for _, dir := range dirs {
		var s unix.Stat_t
		if dir == "" || unix.Stat(dir, &s) != nil {
			continue
		}
		if d := known[s.Dev]; d != nil {
			d.dirs = append(d.dirs, dir)
			continue
		}
		d := &disk{device: s.Dev, dirs: []string{dir}}
		d.used, _, _ = d.now()
		known[s.Dev] = d
		list = append(list, d)
	}
	return list
}

// now is how many bytes of it are used and free, and how many it has.
func (d *disk) now() (used, free, all int64) {
	var s unix.Statfs_t
	if unix.Statfs(d.dirs[0], &s) != nil {
		return d.used, 1 << 62, 1 << 62
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize, int64(s.Bavail) * s.Bsize, int64(s.Blocks) * s.Bsize
}

// reserve is how much of a file system is left to everyone else.
func reserve(all int64) int64 { return min(1<<30, all/20) }

// full says which file system has been filled too much.
func (t *usage) full() (e limitExceeded, ok bool) {
	for _, d := range t.disks {
		used, free, all := d.now()
		d.used = min(d.used, used)
		grown := used - d.used
		switch left := reserve(all); {
		case free < left && grown > left:
			return limitExceeded{LimitDisk, fmt.Sprintf("less than %s is left on the disk of %s, which took %s while it ran",
				safetext.Bytes(left), d.dirs[0], safetext.Bytes(grown))}, true
		case grown > t.limits.Disk:
			if d.holds(t.limits.Disk) {
				return limitExceeded{LimitDisk, fmt.Sprintf("it wrote more than %s to the disk of %s", safetext.Bytes(t.limits.Disk),
					d.dirs[0])}, true
			}
			d.used = used // that was someone else
		}
	}
	return e, false
}

// holdsTime bounds the search of holds.
const holdsTime = 10 * time.Second

// holds reports whether the directories hold so many bytes, as far as that can be told in time: the reserve of the file
// system is kept anyway.
func (d *disk) holds(most int64) bool {
	began, held := time.Now(), int64(0)
	for _, dir := range d.dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		_ = fs.WalkDir(root.FS(), ".", func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if info, err := e.Info(); err == nil {
				if s, ok := info.Sys().(*syscall.Stat_t); ok {
					held += s.Blocks * 512
				}
			}
			if held > most || time.Since(began) > holdsTime {
				return fs.SkipAll
			}
			return nil
		})
		_ = root.Close()
	}
	return held > most
}
