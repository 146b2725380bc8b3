package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
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
	needs := func(i int) []string {
		return slices.DeleteFunc(slices.Clone(left[i].Dependencies), func(id string) bool {
			return done != nil && done(id) && !slices.ContainsFunc(left, func(other Task) bool { return other.ID == id })
		})
	}
	ids := safetext.Map(left, func(t Task) string { return t.ID })
	order, err := plan.InOrder(ids, needs, "task", "tasks", "dependencies")
	if err != nil {
		return nil, err
	}
	return safetext.Map(order, func(i int) Task { return left[i] }), nil
}
