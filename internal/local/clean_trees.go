package local

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/cleanup"
	"github.com/ralph-loop/ralph/internal/git"
)

// holdTrees keeps runs out of the trees beside the clone while it is cleaned. free is never nil.
func (c *Clean) holdTrees() (free func(), err error) {
	var all []func()
	free = func() {
		for _, unlock := range all {
			unlock()
		}
	}
	for _, task := range c.Trees() {
		unlock, err := c.LockTask(task)
		if err != nil {
			return free, fmt.Errorf("a run of %s is at work in a tree of its own, so nothing is removed: %w", task, err)
		}
		all = append(all, unlock)
	}
	return free, nil
}

// treesOver are the trees beside the clone whose runs do not go on.
func (c *Clean) treesOver(runs []cleanup.Run) (over []git.Linked) {
	for _, task := range c.Trees() {
		goesOn := false
		for _, r := range slices.Backward(runs) {
			if r.Task == task {
				goesOn = !r.Over
				break
			}
		}
		if tree, err := c.TreeOf(task); err == nil && !goesOn {
			over = append(over, tree)
		}
	}
	return over
}
