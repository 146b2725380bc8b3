package main

import (
	"runtime/debug"
	"strings"
)

// version is what the build was given: -X main.version=v1.2.3. Releases and make build give one.
var version string

// programVersion is what ralph calls itself: what the build was given, else what Go wrote into the program: the module's
// version where it was installed by "go install …@version", else the commit that a plain "go build" was made from.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return versionOf(info)
}

// unknownVersion is that of a program that nobody gave one.
const unknownVersion = "dev"

// versionOf is the version that Go knows of a program: "v1.2.3", or "dev 0123456789ab" with "and changes" behind it
// where the files were not those of that commit.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.modified":
			if setting.Value == "true" {
				changed = " and changes"
			}
		}
	}
	if commit == "" {
		return unknownVersion
	}
	return strings.TrimSpace(unknownVersion + " " + commit[:min(12, len(commit))] + changed)
}
