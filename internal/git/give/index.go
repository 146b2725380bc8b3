package give

import (
	"bytes"
	"crypto/sha1" // what the file ends with
	"encoding/binary"
	"errors"
	"iter"
	"os"
)

// Where an entry of an index of version 2 or 3 has what.
const (
	atCtime = 0
	atMtime = 8
	atInode = 20
	atMode  = 24
	atOwner = 28
	atSize  = 36
	atFlags = 60
	atName  = 62

	gitlink  = 0o16   // the type of an entry
	extended = 0x4000 // a flag: two more bytes of them follow
)

// indexFile is git's list of a working tree's files, as it is on the disk.
type indexFile []byte

// indexEntry is what an index has of one file: a part of it.
type indexEntry []byte

// ErrOtherIndex is that git writes its index in a way that is not known here.
var ErrOtherIndex = errors.New("an index of another kind")

// Tree is a working tree with its index, both by absolute paths. No one else may write there.
type Tree struct{ Dir, Index string }

// readIndex reads an index of version 2 or 3 that ends with its SHA-1, which is what git writes unless it is told
// otherwise.
func readIndex(name string) (indexFile, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	x := indexFile(raw)
	if len(x) < 12+sha1.Size || string(x[:4]) != "DIRC" || !bytes.Equal(x.sum(), x[len(x)-sha1.Size:]) {
		return nil, ErrOtherIndex
	}
	version, count := binary.BigEndian.Uint32(x[4:]), binary.BigEndian.Uint32(x[8:])
	found := uint32(0)
	for range x.entries() {
		found++
	}
	if version != 2 && version != 3 || found != count {
		return nil, ErrOtherIndex
	}
	return x, nil
}

// sum is the SHA-1 of all that comes before its own.
func (x indexFile) sum() []byte {
	sum := sha1.Sum(x[:len(x)-sha1.Size])
	return sum[:]
}

// summed is the file, ending with its SHA-1 as it is now.
func (x indexFile) summed() []byte {
	copy(x[len(x)-sha1.Size:], x.sum())
	return x
}

// entries are those of an index, in its order, as far as they can be read. They may be written to.
func (x indexFile) entries() iter.Seq[indexEntry] {
	return func(yield func(indexEntry) bool) {
		rest := x[12 : len(x)-sha1.Size]
		for range binary.BigEndian.Uint32(x[8:]) {
			if len(rest) < atName+2 {
				return
			}
			e := indexEntry(rest)
			end := bytes.IndexByte(e[e.nameAt():], 0)
			whole := (e.nameAt() + end + 8) &^ 7
			if end < 0 || whole > len(rest) || !yield(e[:whole]) {
				return
			}
			rest = rest[whole:]
		}
	}
}

func (e indexEntry) nameAt() int {
	if binary.BigEndian.Uint16(e[atFlags:])&extended != 0 {
		return atName + 2
	}
	return atName
}

// name is the file's, from the top of the tree.
func (e indexEntry) name() string {
	name, _, _ := bytes.Cut(e[e.nameAt():], []byte{0})
	return string(name)
}

// Links are the submodules that an index has, by their paths. The error is ErrOtherIndex where it is of another kind.
func Links(index string) (map[string]bool, error) {
	x, err := readIndex(index)
	if err != nil {
		return nil, err
	}
	links := map[string]bool{}
	for e := range x.entries() {
		if binary.BigEndian.Uint32(e[atMode:])>>12 == gitlink {
			links[e.name()] = true
		}
	}
	return links, nil
}
