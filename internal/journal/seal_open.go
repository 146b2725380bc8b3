package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// OpenSealed is Open for a journal that others can write to. name is the seal's file, in a directory that holds the
// seals of all runs beside this one and that no agent can write to; with an empty name it is Open.
//
// What the journal holds beyond the last record that reached the disk is cut off, and Cut says so. The error is a
// *TamperedError when the journal is not what ralph has written: changed, shorter than what was synced, removed, or put
// there by something else while the others are sealed. A journal without a seal is taken where there are no seals at
// all: it came from elsewhere, or is older.
func OpenSealed(dir, name string) (*Journal, error) { return openSealed(dir, name, bootID()) }

func openSealed(dir, name, boot string) (*Journal, error) {
	if name == "" {
		return Open(dir)
	}
	raw, err := read(filepath.Join(dir, File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	known, err := readSeal(name)
	if err != nil {
		return nil, err
	}
	good, cut, err := known.check(raw, name, boot)
	if err != nil {
		return nil, err
	}
	j, err := take(dir, good, cut)
	if err != nil {
		return nil, err
	}
	if j.seal.why = j.seal.begin(name, known, good, boot); j.seal.why != nil && known != nil {
		return nil, errors.Join(j.seal.why, j.Close())
	}
	return j, nil
}
