package journal

import (
	"encoding/json"
	"fmt"
)

// oldSeal is a seal as earlier versions of ralph wrote it: one object, overwritten in its place before each record and
// after it.
type oldSeal struct {
	State  string `json:"state"` // "pending" while a record is being appended, then "written"
	Before mark   `json:"before"`
	After  mark   `json:"after"`
	Branch string `json:"branch"`
}

// readOldSeal reads one. It allowed for no journal that is shorter than the last one it knew.
func readOldSeal(text []byte, name string) (*sealed, error) {
	var old oldSeal
	if err := json.Unmarshal(text, &old); err != nil || old.State != "pending" && old.State != "written" {
		return nil, fmt.Errorf("the journal's seal %s is damaged: if you trust the journal, remove the seal; else begin "+
			"afresh with --fresh", name)
	}
	s := &sealed{marks: []mark{old.After}, branch: old.Branch, old: true, size: int64(len(text))}
	if old.State == "pending" {
		s.marks = []mark{old.Before, old.After}
	}
	return s, nil
}
