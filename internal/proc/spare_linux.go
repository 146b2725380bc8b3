package proc

import (
	"maps"
	"os"
	"slices"
)

// spare leaves processes of the tree running, and what came of them. It is forgotten here and rests in the family,
// until End. One that has died since it was named is not spared, nor is what it left.
func (t *tree) spare(pids []int) (any bool) {
	in := valid(pids)
	if len(in) == 0 {
		return false // and the machine is not looked through
	}
	all := living()
	maps.DeleteFunc(in, func(pid int, _ bool) bool {
		return !slices.ContainsFunc(all, func(s stat) bool { return s.pid == pid })
	})
	home.mu.Lock()
	defer home.mu.Unlock()
	rest := &tree{marks: t.marks, known: map[int]ticks{}, named: maps.Clone(in)}
	for _, s := range below(all, in, true, home.spared) {
		rest.known[s.pid] = s.start
		delete(t.known, s.pid)
	}
	if len(rest.known) > 0 {
		home.resting = append(home.resting, rest)
	}
	return len(rest.known) > 0
}

// take makes an active tree of processes that rest, and what came of them. What only a mark attributes goes with the
// last process that was named when it was spared.
func take(pids []int) (*tree, error) {
	in := valid(pids)
	all := living()
	t := &tree{known: map[int]ticks{}, taken: true}
	if err := home.begin(t); err != nil {
		return nil, err
	}
	home.mu.Lock()
	defer home.mu.Unlock()
	running := map[int]ticks{}
	for _, s := range all {
		running[s.pid] = s.start
	}
	elsewhere := func(s stat) bool { // another process by now, a run's own, or to be spared on
		return home.roots[s.pid] || slices.ContainsFunc(home.resting, func(rest *tree) bool {
			start, known := rest.known[s.pid]
			return known && start != s.start || rest.named[s.pid] && !in[s.pid]
		})
	}
	found := below(slices.Clone(all), maps.Clone(in), true, elsewhere)
	for _, s := range found {
		t.known[s.pid] = s.start
	}
	home.resting = slices.DeleteFunc(home.resting, func(rest *tree) bool {
		maps.DeleteFunc(rest.known, func(pid int, start ticks) bool { return t.known[pid] == start })
		maps.DeleteFunc(rest.named, func(pid int, _ bool) bool { return in[pid] || running[pid] != rest.known[pid] })
		if len(rest.named) == 0 {
			maps.Copy(t.known, rest.known)
			t.marks = append(t.marks, rest.marks...)
		}
		return len(rest.named) == 0
	})
	return t, nil
}

// valid is a set of ids without those that are never meant.
func valid(pids []int) map[int]bool {
	in := map[int]bool{}
	for _, pid := range pids {
		if pid > 1 && pid != os.Getpid() {
			in[pid] = true
		}
	}
	return in
}

// anySpared reports whether something is spared: End has not been asked for it.
func anySpared() bool {
	home.mu.Lock()
	defer home.mu.Unlock()
	return len(home.resting) > 0
}
