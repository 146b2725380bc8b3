package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// written is a run as it stands on the disk, with what its writer knows to be there for certain.
type written struct {
	dir, seal     string
	text, entries []byte // the journal and its seal
	ends          []int  // of the records
	synced        int    // how many of them were synced
}

// writeRun makes a run of records, some of which are synced.
func writeRun(t *testing.T, synced, more int) written {
	t.Helper()
	w := written{dir: filepath.Join(t.TempDir(), "runs", "r"), seal: filepath.Join(t.TempDir(), "seals", "r"),
		synced: synced}
	j := reopen(t, w.dir, w.seal)
	for n := range synced + more {
		if n == synced {
			noError(t, j.Sync())
		}
		r := turning(n)
		if n == 0 {
			r = start("r")
			r.Start.Branch = "b"
		}
		appendTo(t, j, r)
		w.ends = append(w.ends, len(j.Bytes()))
	}
	noError(t, j.Close())
	w.text, _ = os.ReadFile(filepath.Join(w.dir, File))
	w.entries, _ = os.ReadFile(w.seal)
	return w
}

// whole is how many records end within so many bytes.
func (w written) whole(size int) (n int) {
	for n < len(w.ends) && w.ends[n] <= size {
		n++
	}
	return n
}

// put makes the disk hold a journal and a seal.
func (w written) put(t *testing.T, text, entries []byte) {
	t.Helper()
	overwrite(t, filepath.Join(w.dir, File), text)
	overwrite(t, w.seal, entries)
}

// goesOn opens the run and expects so many records, then appends one, and opens it again.
func (w written) goesOn(t *testing.T, what, boot string, records int, cut bool) {
	t.Helper()
	j, err := openSealed(w.dir, w.seal, boot)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer j.Close()
	if got := j.State().Records; got != records || (j.Cut() != "") != cut || !bytes.HasPrefix(w.text, j.Bytes()) {
		t.Fatalf("%s: %d records, want %d; %q", what, got, records, j.Cut())
	}
	appendTo(t, j, turning(9))
	again, err := openSealed(w.dir, w.seal, boot)
	if err != nil || again.State().Records != records+1 || again.Cut() != "" || again.State().Turning.Iteration != 9 {
		t.Fatalf("%s, and one more: %v, %+v", what, err, again)
	}
	noError(t, again.Close())
}

// TestJournalCutAnywhere: what was synced must be there; of the rest, whole records count.
func TestJournalCutAnywhere(t *testing.T) {
	t.Parallel()
	w := writeRun(t, 2, 3)
	for size := range len(w.text) + 1 {
		tails := []string{strings.Repeat("\x00", 70), "\x17garbage\nand {more}\n\n\x00x", strings.Repeat("\xa5", 4096),
			"ord\n" + string(w.text[:size/2])}
		for _, tail := range []string{"", tails[size%4]} {
			what := fmt.Sprintf("cut at %d, then %.10q", size, tail)
			w.put(t, append(bytes.Clone(w.text[:size]), tail...), w.entries)
			if size < w.ends[w.synced-1] {
				if _, err := OpenSealed(w.dir, w.seal); !errors.As(err, new(*TamperedError)) {
					t.Fatalf("%s: %v", what, err)
				}
				continue
			}
			w.goesOn(t, what, bootID(), w.whole(size), size < len(w.text) || len(tail) > 0)
		}
	}
}

// TestSealCutAnywhere: of a seal that lost its end, what is left counts. No record is believed that it does not tell
// of, and none that it says was synced may be missing.
func TestSealCutAnywhere(t *testing.T) {
	t.Parallel()
	w := writeRun(t, 2, 3)
	durable := bytes.Index(w.entries, []byte(`"is":"synced"`))
	durable += bytes.IndexByte(w.entries[durable:], '\n') + 1
	for size := range len(w.entries) + 1 {
		tails := []string{string(make([]byte, 100)), "0123456789abcdef {}\n", string(w.entries[:size])}
		for _, tail := range []string{"", tails[size%3]} {
			if size == len(w.entries) && tail == "" {
				continue
			}
			what := fmt.Sprintf("cut at %d, then %.10q", size, tail)
			kept := append(bytes.Clone(w.entries[:size]), tail...)
			told := bytes.Count(w.entries[:size], []byte(`"is":"announced"`)) // the last of them may not be whole
			if end := bytes.LastIndexByte(w.entries[:size], '\n') + 1; end < size {
				told = bytes.Count(w.entries[:end], []byte(`"is":"announced"`))
			}
			w.put(t, w.text, kept)
			w.goesOn(t, what+", another boot", "another", told, told < len(w.ends))
			if size < durable {
				continue
			}
			// The machine still runs: a seal that ends where an entry does is whole, and more records are none of ours.
			w.put(t, w.text, kept)
			_, err := OpenSealed(w.dir, w.seal)
			wholeEntries := tail == "" && bytes.HasSuffix(kept, []byte("\n"))
			if tampered := errors.As(err, new(*TamperedError)); tampered != (wholeEntries && told < len(w.ends)) {
				t.Fatalf("%s, the same boot: %v", what, err)
			}
		}
	}
}

// TestLostSeal: a seal of which nothing reached the disk is that of a run that had just begun.
func TestLostSeal(t *testing.T) {
	w := writeRun(t, 1, 1)
	for _, left := range [][]byte{nil, make([]byte, 200)} {
		w.put(t, w.text, left)
		w.goesOn(t, "nothing of the seal", bootID(), 0, true)
		turned := `{"type":"turned","iteration":1,"turn":{}}` + "\n"
		w.put(t, append(bytes.Clone(w.text), turned...), left)
		if _, err := OpenSealed(w.dir, w.seal); err == nil ||
			!strings.Contains(err.Error(), "is damaged: if you trust the journal, remove the seal") {
			t.Errorf("%v", err)
		}
	}
	w.put(t, nil, w.entries)
	if _, ok, err := FindSealed(w.dir, w.seal, "issue-1"); ok || !errors.As(err, new(*TamperedError)) {
		t.Errorf("found: %v, %v", ok, err)
	}
}

// TestMissingJournalThatWasNotSynced: while the machine runs, only something else can have taken it away.
func TestMissingJournalThatWasNotSynced(t *testing.T) {
	dir, name := filepath.Join(t.TempDir(), "runs", "r"), filepath.Join(t.TempDir(), "seals", "r")
	j := reopen(t, dir, name)
	// with one record, its writer may have died before it was written
	for n, noticed := range []bool{false, false, true, true} {
		if n == 1 {
			appendTo(t, j, start("r"))
		} else if n > 1 {
			appendTo(t, j, turning(n))
		}
		for _, gone := range []string{dir, filepath.Join(dir, "nowhere")} {
			if gone == dir {
				overwrite(t, filepath.Join(dir, File), nil)
			}
			_, ok, err := FindSealed(gone, name, "issue-1")
			var tampered *TamperedError
			if errors.As(err, &tampered) != noticed || noticed && !tampered.Missing || ok {
				t.Errorf("%d records: %v, %v", n, ok, err)
			}
			s, err := readSeal(name)
			noError(t, err)
			if _, _, err := s.check(nil, name, "another"); err != nil {
				t.Errorf("%d records, after a loss of power: %v", n, err)
			}
		}
	}
}

// disk is a file and what of it is certain to survive a loss of power.
type disk struct {
	name    string
	durable int
	stale   []byte // what the disk held after the last loss of power
}

const sector = 64 // small, so that tests lose many

// lose does to a file what a loss of power can do: of what was not synced, each sector may be new, old, empty or
// anything, and the file may end anywhere.
func (d *disk) lose(t *testing.T, r *rand.Rand) {
	t.Helper()
	now, _ := os.ReadFile(d.name)
	left := bytes.Clone(now)
	if len(d.stale) > len(left) && r.IntN(2) == 0 {
		left = append(left, d.stale[len(left):]...)
	}
	left = left[:d.durable+r.IntN(len(left)-d.durable+1)]
	kind := r.IntN(3) // most losses leave holes; some only cut
	for at := d.durable / sector * sector; kind > 0 && at < len(left); at += sector {
		part := left[max(at, d.durable):min(at+sector, len(left))]
		switch r.IntN(6) {
		case 0:
			clear(part)
		case 1:
			for i := range part {
				part[i] = byte(r.Uint32())
			}
		case 2:
			clear(part)
			if from := max(at, d.durable); from < len(d.stale) {
				copy(part, d.stale[from:])
			}
		}
	}
	overwrite(t, d.name, left)
	d.stale = left
}

// TestLossOfPower plays many histories: records, syncs, and losses of power at any point, also in the middle of a sync.
// Whatever was synced is there again, whatever is there was written, and the run goes on.
func TestLossOfPower(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 36))
		dir := t.TempDir()
		book, seal := &disk{name: filepath.Join(dir, "runs", "r", File)}, &disk{name: filepath.Join(dir, "seals", "r")}
		var truth []string // the records
		synced := 0
		for boot := range 6 {
			j, err := openSealed(filepath.Dir(book.name), seal.name, fmt.Sprint(boot))
			if err != nil {
				t.Fatalf("seed %d, boot %d: %v", seed, boot, err)
			}
			lines := strings.SplitAfter(string(j.Bytes()), "\n")
			lines = lines[:len(lines)-1]
			if len(lines) < synced || len(lines) > len(truth) || !reflect.DeepEqual(lines, truth[:len(lines):len(lines)]) &&
				len(lines) > 0 {
				t.Fatalf("seed %d, boot %d: %d records of %d, of which %d were synced", seed, boot, len(lines), len(truth), synced)
			}
			truth = truth[:len(lines):len(lines)]
			// what was cut off is not wanted
			book.durable, seal.durable = min(book.durable, len(j.Bytes())), min(seal.durable, int(j.seal.at))
			for range r.IntN(8) {
				if r.IntN(3) == 0 {
					noError(t, j.Sync())
					book.durable, synced = len(j.Bytes()), len(truth)
					seal.durable = int(j.seal.at)
					continue
				}
				rec := turning(1 + r.IntN(1000))
				rec.Story = strings.Repeat("x", r.IntN(200))
				if len(truth) == 0 {
					rec = start("r")
				}
				appendTo(t, j, rec)
				line, _ := encode(rec)
				truth = append(truth, string(line))
			}
			if r.IntN(4) == 0 { // in the middle of a sync
				book.durable = len(j.Bytes())
			}
			noError(t, j.Close())
			if r.IntN(3) > 0 {
				book.lose(t, r)
				seal.lose(t, r)
			}
		}
	}
}

// TestUnsealedJournalCutAnywhere: without a seal the whole records count.
func TestUnsealedJournalCutAnywhere(t *testing.T) {
	t.Parallel()
	w := writeRun(t, 2, 1)
	for size := range len(w.text) + 1 {
		for what, tail := range map[string]string{"nothing": "", "zeroes": strings.Repeat("\x00", 50),
			"garbage": "\x01\nx\n{\n"} {
			if w.whole(size) == 0 && tail != "" {
				continue // nothing of it is a journal
			}
			overwrite(t, filepath.Join(w.dir, File), append(bytes.Clone(w.text[:size]), tail...))
			s, _, err := Follow(w.dir).Next()
			if err != nil || s.Records != w.whole(size) {
				t.Fatalf("cut at %d, then %s: %d records, %v", size, what, s.Records, err)
			}
			j, err := Open(w.dir)
			if err != nil || j.State().Records != w.whole(size) {
				t.Fatalf("cut at %d, then %s: %v", size, what, err)
			}
			if said, wholeLine := j.Cut() != "",
				w.whole(size) > 0 && w.ends[w.whole(size)-1] == size; said != (tail != "" || size > 0 && !wholeLine) {
				t.Errorf("cut at %d, then %s: it says %q", size, what, j.Cut())
			}
			noError(t, j.Close())
		}
	}
	for _, after := range []string{"garbage\n" + string(w.text), `{"type":"invented"}` + "\n", `{"a":1}` + "\n"} {
		overwrite(t, filepath.Join(w.dir, File), append(bytes.Clone(w.text), after...))
		if _, err := Open(w.dir); err == nil {
			t.Errorf("%.20q: it is opened", after)
		}
	}
}
