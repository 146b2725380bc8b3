package main

import "testing"

// TestKeptFromAgents: keys lie where a sandbox hides them, unless another user works.
func TestKeptFromAgents(t *testing.T) {
	for _, c := range []struct {
		data, home string
		root, ok   bool
	}{
		{"/var/lib/ralph", "/root", true, true},
		{"/var/lib/ralph", "/var/lib/ralph", false, true},
		{"/home/r/.local/state/ralph/serve", "/home/r", false, true},
		{"/var/lib/ralph", "/home/r", false, false},
		{"/home/rr", "/home/r", false, false},
		{"/home/r", "", false, false},
	} {
		if err := keptFromAgents(c.data, c.home, c.root); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
