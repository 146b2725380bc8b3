package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Order puts tasks in the order in which they can be done: each after those that it depends on, then by ascending
// priority, then by id. A dependency that is no task and tasks that wait for each other are errors that name them. done
// reports tasks that are missing because they are done; nil knows no such task.
func Order(tasks []Task, done func(id string) bool) ([]Task, error) {
	left := slices.SortedFunc(slices.Values(tasks), func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.ID, b.ID))
	})
	known := map[string]bool{}
	for _, t := range left {
		if known[strings.ToLower(t.ID)] { // two files of one name, on some systems
			return nil, fmt.Errorf("two tasks have the id %s; give one of them another", t.ID)
		}
		known[strings.ToLower(t.ID)] = true
	}
	waits := map[string][]string{}
	for _, t := range left {
		for _, id := range t.Dependencies {
			switch {
			case slices.ContainsFunc(left, func(other Task) bool { return other.ID == id }):
				waits[t.ID] = append(waits[t.ID], id)
			case done == nil || !done(id):
				return nil,
					fmt.Errorf("task %s depends on %s, which is no task here; create it, or take it out of the dependencies", t.ID,
						safetext.Quoted(id))
			}
		}
	}
	var ordered []Task
	placed := map[string]bool{}
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(t Task) bool {
			return !slices.ContainsFunc(waits[t.ID], func(id string) bool { return !placed[id] })
		})
		if next < 0 {
			return nil, fmt.Errorf("tasks wait for each other: %s; take one of these dependencies out",
				strings.Join(circle(left[0].ID, waits, placed), " → "))
		}
		placed[left[next].ID] = true
		ordered = append(ordered, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return ordered, nil
}

// circle follows what an unplaced task waits for until it comes to one for the second time.
func circle(id string, waits map[string][]string, placed map[string]bool) []string {
	var path []string
	for !slices.Contains(path, id) {
		path = append(path, id)
		next := slices.IndexFunc(waits[id], func(other string) bool { return !placed[other] })
		id = waits[id][next]
	}
	return append(path[slices.Index(path, id):], id)
}

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
