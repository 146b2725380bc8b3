package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// syncing is what a journal knows of its way to the disk. The journal's mutex guards it.
type syncing struct {
	upTo   int64 // how many bytes of the journal are on the disk
	placed bool  // so are the names of the files
	failed error // why a sync in the background did not work: nothing may be appended any more

	work  sync.WaitGroup // what is running in the background
	hurry chan struct{}  // closed when that is not to pause any more; nil: nothing is running
	asked mark           // up to where it was asked for
}

// Sync puts every record on the disk, and the seal after them. When it returns, no loss of power takes them back: what
// happens outside of this machine may rely on them. It does nothing when that is so already. A file system that cannot
// sync is no error.
func (j *Journal) Sync() error {
	j.wait()
	if j.sync.failed != nil {
		return j.sync.failed
	}
	return j.syncTo(j.mark())
}

// SyncSoon begins a Sync of the records that there are now, after a pause, and does not wait for it. What is asked for
// while another one pauses or is running is done together. An error is returned by the next Append or Sync, and by
// Close.
func (j *Journal) SyncSoon(pause time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sync.asked = j.mark()
	if j.sync.hurry == nil {
		hurry := make(chan struct{})
		j.sync.hurry = hurry
		j.sync.work.Go(func() { j.syncBeside(pause, hurry) })
	}
	if pause == 0 {
		j.hasten()
	}
}

// syncBeside works off what SyncSoon asks for.
func (j *Journal) syncBeside(pause time.Duration, hurry <-chan struct{}) {
	for done := false; !done; {
		select {
		case <-time.After(pause):
		case <-hurry:
		}
		j.mu.Lock()
		upTo := j.sync.asked
		j.mu.Unlock()
		err := j.syncTo(upTo)
		j.mu.Lock()
		if done = err != nil || j.sync.asked == upTo; done {
			j.sync.failed, j.sync.hurry = err, nil
		}
		j.mu.Unlock()
	}
}

// hasten has what is running in the background pause no more.
func (j *Journal) hasten() {
	if j.sync.hurry == nil {
		return
	}
	select {
	case <-j.sync.hurry:
	default:
		close(j.sync.hurry)
	}
}

// wait waits for what is running in the background.
func (j *Journal) wait() {
	j.mu.Lock()
	j.hasten()
	j.mu.Unlock()
	j.sync.work.Wait()
}

// mark is the journal as it is.
func (j *Journal) mark() mark {
	if j.seal.file == nil {
		return mark{Bytes: j.size}
	}
	return j.seal.now
}

// syncTo puts the journal on the disk, then an entry of the seal that says so, then the seal. In this order the seal
// never says of a record that was lost that it is on the disk. Only the entry is written under the mutex, so that
// no one waits for the disk who appends.
func (j *Journal) syncTo(upTo mark) error {
	for {
		file, dirs, needed := j.toSync(upTo)
		if !needed {
			return nil
		}
		err := dataSync(file)
		for _, dir := range dirs {
			err = errors.Join(err, syncDir(dir))
		}
		seal, again, err := j.synced(file, upTo, err)
		if again {
			continue
		}
		if err == nil && seal != nil {
			err = dataSync(seal)
		}
		if err != nil {
			return fmt.Errorf("putting the journal on the disk: %w", err)
		}
		return nil
	}
}

// toSync says what has to be put on the disk: the file, and once after its creation the directories that name it and
// the seal.
func (j *Journal) toSync(upTo mark) (file *os.File, dirs []string, needed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sync.placed {
		return j.file, nil, upTo.Bytes > j.sync.upTo
	}
	dir := filepath.Dir(j.name)
	dirs = []string{dir, filepath.Dir(dir)}
	if j.seal.file != nil {
		dir := filepath.Dir(j.seal.name)
		dirs = append(dirs, dir, filepath.Dir(dir))
	}
	return j.file, dirs, true
}

// synced keeps what has been put on the disk, and returns the seal that says so, to be put there too. again is true
// when the journal has got another file meanwhile, since its own was removed.
func (j *Journal) synced(file *os.File, upTo mark, err error) (seal *os.File, again bool, _ error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if file != j.file {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	j.sync.upTo, j.sync.placed = upTo.Bytes, true
	if j.seal.file == nil {
		return nil, false, nil
	}
	return j.seal.file, false, j.seal.write(entry{Is: synced, mark: upTo})
}

// Close waits for a sync in the background, and closes the files.
func (j *Journal) Close() error {
	j.wait()
	return errors.Join(j.sync.failed, j.file.Close(), j.seal.close())
}

// Discard closes the journal and removes it with its directory, and its seal: nothing has happened that is worth
// keeping.
func (j *Journal) Discard() error {
	sealed := j.seal.file != nil
	err := errors.Join(j.Close(), os.RemoveAll(filepath.Dir(j.name)))
	if sealed {
		err = errors.Join(err, os.Remove(j.seal.name))
	}
	return err
}
