package give

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// LaidOut gives a tree that git has just laid out, and notes in its index how each file looks since: otherwise git
// would read all of them again, which takes as long as writing them. The error is an ErrOtherIndex before anything is
// given.
func LaidOut(t Tree, to *proc.User) error {
	if to == nil {
		return nil
	}
	known, err := readIndex(t.Index)
	if err != nil {
		return err
	}
	top, err := unix.Open(t.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	g := giver{uid: int(to.UID), gid: int(to.GID), open: []openDirectory{{"", top}}}
	defer func() { g.leave(0) }()
	for entry := range known.entries() {
		if err := g.give(entry); err != nil {
			return err
		}
	}
	if err := unix.Fchownat(top, "", g.uid, g.gid, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	return files.Replace(t.Index, known.summed())
}

// giver gives away one file after another. Those of a directory follow each other, so it is opened once.
type giver struct {
	uid, gid int
	open     []openDirectory // each is in the one before
}

type openDirectory struct {
	path string // from the top, with a slash at the end; the top's is ""
	fd   int
}

// give gives a file away, with the directories that lead to it. An entry that says how it looked before says how it
// looks then; git looks at all others itself.
func (g *giver) give(e indexEntry) error {
	in, err := g.enter(e.name())
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil // a sparse checkout has not all of them
	}
	if err != nil {
		return err
	}
	var before, after unix.Stat_t
	name := path.Base(e.name())
	if err := unix.Fstatat(in, name, &before, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return ignoreGone(err)
	}
	if err := unix.Fchownat(in, name, g.uid, g.gid, unix.AT_SYMLINK_NOFOLLOW); err != nil || !e.tells(before) {
		return err
	}
	if err := unix.Fstatat(in, name, &after, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	e.restamp(after)
	return nil
}

// enter opens the directory that a file is in, gives it away when it was not open, and closes those that the file is
// not below. No link is followed.
func (g *giver) enter(name string) (fd int, err error) {
	for last := len(g.open) - 1; !strings.HasPrefix(name, g.open[last].path); last-- {
		g.leave(last)
	}
	for {
		at := g.open[len(g.open)-1]
		part, _, below := strings.Cut(name[len(at.path):], "/")
		if !below {
			return at.fd, nil
		}
		if fd, err = unix.Openat(at.fd, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
			return 0, err
		}
		g.open = append(g.open, openDirectory{at.path + part + "/", fd})
		if err := unix.Fchownat(fd, "", g.uid, g.gid, unix.AT_EMPTY_PATH); err != nil {
			return 0, err
		}
	}
}

// leave closes the open directories from one on.
func (g *giver) leave(from int) {
	for _, d := range g.open[from:] {
		_ = unix.Close(d.fd)
	}
	g.open = g.open[:from]
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// tells reports whether an entry is of a file as it is: git need not read that one.
func (e indexEntry) tells(s unix.Stat_t) bool {
	return bytes.Equal(e[atCtime:atMtime], instant(s.Ctim)) && bytes.Equal(e[atMtime:atMtime+8], instant(s.Mtim)) &&
		binary.BigEndian.Uint32(e[atInode:]) == uint32(s.Ino) && binary.BigEndian.Uint32(e[atSize:]) == uint32(s.Size)
}

// restamp notes the owner that a file has now, and when it got it.
func (e indexEntry) restamp(s unix.Stat_t) {
	copy(e[atCtime:], instant(s.Ctim))
	binary.BigEndian.PutUint32(e[atOwner:], s.Uid)
	binary.BigEndian.PutUint32(e[atOwner+4:], s.Gid)
}

func instant(t unix.Timespec) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(t.Sec)), uint32(t.Nsec))
}
