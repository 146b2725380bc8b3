package main

import "fmt"

// condition is what varies from one recording of a failure to the next.
type condition struct {
	dir      string   // where the project lies
	zone     string   // TZ
	after    string   // how far the clock is moved, as faketime takes it; "" is not at all
	columns  int      // COLUMNS, or the width of the terminal
	terminal bool     // standard output is a terminal
	warm     bool     // the second run in the same directory
	shift    int      // lines put above every source file
	env      []string // more variables
}

var colour = []string{"TERM=xterm-256color", "FORCE_COLOR=1", "CLICOLOR_FORCE=1", "PY_COLORS=1", "CARGO_TERM_COLOR=always"}

// conditions are the same for every failure; what a tool has beside them (order, parallelism) is in the vary lines of a project.
var conditions = []condition{
	{dir: "/home/dev/app", zone: "UTC", columns: 80},
	{dir: "/srv/ci/build-7/app", zone: "America/New_York", after: "+37d", columns: 120, warm: true,
		env: []string{"CI=true", "TMPDIR=/srv/ci/scratch-7"}},
	{dir: "/tmp/xyz/app", zone: "Asia/Kolkata", columns: 60, terminal: true, env: colour},
	{dir: "/builds/group/app", zone: "UTC", columns: 200, shift: 3, env: []string{"CI=true"}},
	{dir: "/var/lib/jenkins/workspace/app_feature-x@2", zone: "Europe/Berlin", after: "+1601d", columns: 100, terminal: true, shift: 11,
		env: []string{"TERM=xterm-256color"}},
	{dir: "/w/app", zone: "Pacific/Auckland", columns: 132, env: append([]string{"TMPDIR=/w/scratch"}, colour...)},
}

// environ is all that a command sees: nothing of the machine's own.
func environ(c condition) []string {
	return append([]string{
		"PATH=/opt/failures/bin:/usr/local/go/bin:/usr/bin:/bin:/usr/games",
		"HOME=/home/dev", "USER=dev", "LANG=C.UTF-8", "TERM=dumb", "TZ=" + c.zone, fmt.Sprintf("COLUMNS=%d", c.columns),
		"NPM=/opt/failures/npm",
		"GOCACHE=/opt/failures/go-build", "GOMODCACHE=/opt/failures/go-mod", "GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOFLAGS=-buildvcs=false",
	}, c.env...)
}
