package task

import "slices"

// Needs are the ids of all tasks that a task depends on, directly or through others, in the order in which they are
// listed.
func Needs(t Task, listed []Task) (ids []string) {
	need := map[string]bool{}
	var add func(t Task)
	add = func(t Task) {
		for _, id := range t.Dependencies {
			i := slices.IndexFunc(listed, func(other Task) bool { return other.ID == id })
			if i >= 0 && !need[id] {
				need[id] = true
				add(listed[i])
			}
		}
	}
	add(t)
	for _, other := range listed {
		if need[other.ID] {
			ids = append(ids, other.ID)
		}
	}
	return ids
}
