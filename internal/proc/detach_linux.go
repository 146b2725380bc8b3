package proc

import (
	"maps"
	"os"
	"slices"
)

// spare leaves processes of the tree running, and what resulted from them. It is forgotten here and rests in the family,
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
	registry.mu.Lock()
	defer registry.mu.Unlock()
	rest := &tree{marks: t.marks, known: map[int]ticks{}, named: maps.Clone(in)}
	for _, s := range descendants(all, in, true, registry.spared) {
		rest.known[s.pid] = s.start
		delete(t.known, s.pid)
	}
	if len(rest.known) > 0 {
		registry.resting = append(registry.resting, rest)
	}
	return len(rest.known) > 0
}

// take makes an active tree of processes that rest, and what resulted from them. What only a mark attributes goes with the
// last process that was named when it was spared.
func take(pids []int) (*tree, error) {
	in := valid(pids)
	all := living()
	t := &tree{known: map[int]ticks{}, taken: true}
	if err := registry.begin(t); err != nil {
		return nil, err
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	running := map[int]ticks{}
	for _, s := range all {
		running[s.pid] = s.start
	}
	elsewhere := func(s stat) bool { // another process by now, a run's own, or to be spared on
		return registry.roots[s.pid] || slices.ContainsFunc(registry.resting, func(rest *tree) bool {
			start, known := rest.known[s.pid]
			return known && start != s.start || rest.named[s.pid] && !in[s.pid]
		})
	}
	found := descendants(slices.Clone(all), maps.Clone(in), true, elsewhere)
	for _, s := range found {
		t.known[s.pid] = s.start
	}
	registry.resting = slices.DeleteFunc(registry.resting, func(rest *tree) bool {
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
	registry.mu.Lock()
	defer registry.mu.Unlock()
	return len(registry.resting) > 0
}
