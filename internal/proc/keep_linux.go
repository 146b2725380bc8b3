package proc

import (
	"cmp"
	"os"
	"slices"
)

// keepers are the processes of the tree that only keep its box, from the root down, and the one that they keep. While
// that does not exist yet, or no more, nothing is kept, and the root is a process as any other.
func (t *tree) keepers() (keep []int, kept int) {
	if t.kept == 0 {
		return nil, t.root
	}
	all := living()
	kept = t.root
	for range t.kept {
		keep = append(keep, kept)
		if kept = oldest(all, kept); kept == 0 {
			return nil, t.root
		}
	}
	return keep, kept
}

// oldest is the oldest child of a process; 0 when it has none.
func oldest(all []stat, parent int) int {
	all = slices.DeleteFunc(slices.Clone(all), func(s stat) bool { return s.parent != parent })
	if len(all) == 0 {
		return 0
	}
	return slices.MinFunc(all, func(a,
		b stat) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pid, b.pid))
	}).pid
}

// innermost is the process that was meant, within its box.
func (r *running) innermost() *os.Process {
	if _, pid := r.tree.keepers(); pid != r.tree.root {
		if p, err := os.FindProcess(pid); err == nil {
			return p
		}
	}
	return r.process
}
