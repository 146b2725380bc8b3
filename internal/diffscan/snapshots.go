package diffscan

import (
	"path"
	"strings"
)

// snapshots names recorded expectations that were rewritten or removed: nothing tells whether the new ones are right.
func (d *Change) snapshots() (weakenings []Weakening) {
	for _, f := range d.files {
		ext := path.Ext(f.name)
		if ext != ".snap" && ext != ".golden" && ext != ".approved" && !strings.Contains("/"+f.name, "/__snapshots__/") ||
			f.added || foreign.MatchString(f.name) {
			continue
		}
		old := f.binary || f.deleted
		for _, h := range f.hunks {
			old = old || len(h.old) > 0
		}
		if old {
			weakenings = append(weakenings, Weakening{kind: rewritten, File: f.name, Message: "the snapshot was rewritten"})
		}
	}
	return weakenings
}
