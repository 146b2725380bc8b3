package secret

import (
	"slices"
	"strings"
)

// Wanted are texts that are looked for in others, each as it is. Looking takes as long for a hundred thousand of them
// as for one.
type Wanted struct {
	index   index
	lengths [][]int         // of the texts that begin alike, by the place of their beginning in the index
	found   map[string]bool // of each text
	left    int             // how many were not found yet
	longest int
	tail    string // the end of what came before: a text may lie across two writes
}

// LeastWanted is how long a text must be to be looked for, in bytes.
const LeastWanted = grain

// Want makes ready to look for texts. Those shorter than LeastWanted are never found.
func Want(texts []string) *Wanted {
	w := &Wanted{found: make(map[string]bool, len(texts))}
	at := map[string]int{}
	var beginnings []form
	for _, text := range texts {
		if _, twice := w.found[text]; twice || len(text) < grain {
			continue
		}
		w.found[text] = false
		w.longest = max(w.longest, len(text))
		i, known := at[text[:grain]]
		if !known {
			i = len(beginnings)
			at[text[:grain]] = i
			beginnings = append(beginnings, form{text: text[:grain]})
			w.lengths = append(w.lengths, nil)
		}
		if !slices.Contains(w.lengths[i], len(text)) {
			w.lengths[i] = append(w.lengths[i], len(text))
		}
	}
	w.index, w.left = indexed(beginnings), len(w.found)
	return w
}

// Found reports whether a text that was wanted is in what has been written.
func (w *Wanted) Found(text string) bool { return w.found[text] }

// All reports whether every text was found.
func (w *Wanted) All() bool { return w.left == 0 }

// Write implements io.Writer: it looks through p, and the end of what came before. It never fails.
func (w *Wanted) Write(p []byte) (int, error) {
	if w.All() {
		return len(p), nil
	}
	text := w.tail + string(p)
	for from := 0; ; from++ {
		at, first := w.index.next(text, from)
		if at < 0 {
			break
		}
		w.look(text, at, w.lengths[w.index.places[first].form])
		from = at
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
