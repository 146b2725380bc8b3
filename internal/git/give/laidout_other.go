//go:build !linux

package give

import "github.com/ralph-loop/ralph/internal/proc"

// LaidOut does nothing: only on Linux agents work as another user.
func LaidOut(Tree, *proc.User) error { return nil }
