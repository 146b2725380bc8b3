package main

import (
	"runtime/debug"
	"testing"
)

// TestVersionOf: what Go writes into programs that were built in each of the usual ways.
func TestVersionOf(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, row := range []struct {
		name, module string
		settings     []debug.BuildSetting
		want         string
	}{
		{"go install with a version", "v1.2.3", nil, "v1.2.3"},
		{"go build in a clone, as Go 1.24 and later tell it", "v0.0.0-20261123000000-0123456789ab+dirty",
			[]debug.BuildSetting{commit, changed}, "v0.0.0-20261123000000-0123456789ab+dirty"},
		{"go build in a clone, with the commit alone", "(devel)", []debug.BuildSetting{commit}, "dev 0123456789ab"},
		{"with changes", "", []debug.BuildSetting{commit, changed}, "dev 0123456789ab and changes"},
		{"without the files of git", "(devel)", nil, "dev"},
		{"with a short revision", "", []debug.BuildSetting{{Key: "vcs.revision", Value: "7"}}, "dev 7"},
	} {
		info := &debug.BuildInfo{Settings: row.settings}
		info.Main.Version = row.module
		if got := versionOf(info); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
