package main

import (
	"path/filepath"
	"testing"
)

// TestAgentAbove: a program above the clone is the same one for whoever works in another tree.
func TestAgentAbove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "clone")
	for given, want := range map[string]string{
		"../agent": filepath.Join(filepath.Dir(dir), "agent"), "x/../../agent": filepath.Join(filepath.Dir(dir), "agent"),
		"claude": "claude", "./agent": "./agent", "..agent": "..agent", "/opt/agent": "/opt/agent", "": "",
	} {
		if got := *fromHere(dir, &given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	if fromHere(dir, nil) != nil {
		t.Error("no agent became one")
	}
}
