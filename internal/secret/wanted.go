package secret

import (
	"slices"
	"strings"
)

// Wanted are texts that are searched for in others, each as it is. Looking takes as long for a hundred thousand of them
// as for one.
type Wanted struct {
	filter  [1 << 13]uint64  // a bit for each start of a text
	lengths map[string][]int // of the texts with the same start
	found   map[string]bool  // of each text
	left    int              // how many were not found yet
	longest int
	tail    string // the end of what came before: a text may lie across two writes
}

// grain is how many bytes are looked up at once.
const grain = 8

// hashed is the bit of the start of a text.
func hashed(s string) uint64 {
	_ = s[grain-1]
	n := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 |
		uint64(s[6])<<48 | uint64(s[7])<<56
	return n * 0x9E3779B97F4A7C15 >> 45
}

// LeastWanted is how long a text must be to be searched for, in bytes.
const LeastWanted = grain

// Want makes ready to look for texts. Those shorter than LeastWanted are never found.
func Want(texts []string) *Wanted {
	w := &Wanted{found: make(map[string]bool, len(texts)), lengths: map[string][]int{}}
	for _, text := range texts {
		if _, twice := w.found[text]; twice || len(text) < grain {
			continue
		}
		w.found[text] = false
		w.longest = max(w.longest, len(text))
		begins := text[:grain]
		if !slices.Contains(w.lengths[begins], len(text)) {
			w.lengths[begins] = append(w.lengths[begins], len(text))
		}
		h := hashed(begins)
		w.filter[h>>6] |= 1 << (h & 63)
	}
	w.left = len(w.found)
	return w
}

// Found reports whether one of the texts is in what has been written.
func (w *Wanted) Found(text string) bool { return w.found[text] }

// All reports whether every text was found.
func (w *Wanted) All() bool { return w.left == 0 }

// Write implements io.Writer: it looks through p, and the end of what came before. It never fails.
func (w *Wanted) Write(p []byte) (int, error) {
	if w.All() {
		return len(p), nil
	}
	text := w.tail + string(p)
	for at := 0; at+grain <= len(text); at++ {
		if h := hashed(text[at : at+grain]); w.filter[h>>6]&(1<<(h&63)) != 0 {
			w.look(text, at, w.lengths[text[at:at+grain]])
		}
	}
	w.tail = strings.Clone(text[max(0, len(text)-w.longest+1):])
	return len(p), nil
}

// look tries the lengths of what begins as a text does at a place.
func (w *Wanted) look(text string, at int, lengths []int) {
	for _, n := range lengths {
		if at+n > len(text) {
			continue
		}
		if found, wanted := w.found[text[at:at+n]]; wanted && !found {
			w.found[strings.Clone(text[at:at+n])] = true
			w.left--
		}
	}
}

// Break says that what is written next does not follow what came before.
func (w *Wanted) Break() { w.tail = "" }
