package serve

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
)

// hints are what people have said for the agent. Each becomes a record of the run's journal, and is told to no later
// process then.
type hints struct {
	last    int64 // the highest number of a word that the process has got
	earlier int   // how many records of the journal the process began with
}

// heardUpTo is the number after which words are new.
func (r *recorder) heardUpTo() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// untold are the hints that the process is to get: none before it has said where it stands.
func (r *recorder) untold(said []store.Word) (list []store.Word) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		return nil
	}
	for _, w := range said {
		if w.Number <= r.last {
			continue
		}
		r.last = w.Number
		if w.Record > 0 && w.Record <= r.earlier { // a later record never left the process that died
			continue
		}
		list = append(list, w)
	}
	return list
}

// heard notes that a hint has become a record; the caller holds the lock.
func (r *recorder) heard(of loop.Record, number int) {
	var word int64
	if of.Hint == nil {
		return
	}
	if _, err := fmt.Sscanf(of.Hint.ID, wordIDs, &word); err == nil {
		r.told = append(r.told, store.Told{Word: word, Record: number})
	}
}
