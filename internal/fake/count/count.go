// Package count limits how many processes the tests of a package can start: processes are what the tests' time goes to,
// and their number is the same on every machine.
package count

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/proc"
)

var others atomic.Int64

// Add counts a process that was not started through package proc.
func Add() { others.Add(1) }

// Started is how many processes this process has started: through package proc, and those that Add counted.
func Started() int64 { return proc.Started.Load() + others.Load() }

// Run runs tests and returns their exit code, which is 1 if they started more than most processes. What those processes
// start is not counted. RALPH_TEST_EVERY_FAULT, which plays all rows, switches the limit off.
func Run(tests interface{ Run() int }, most int64) int {
	code := tests.Run()
	if flag.Lookup("test.count").Value.String() != "1" || os.Getenv("RALPH_TEST_EVERY_FAULT") != "" {
		return code
	}
	if flag.Lookup("test.v").Value.String() == "true" {
		fmt.Printf("started %d processes, at most %d\n", Started(), most)
	}
	if Started() > most {
		fmt.Printf("FAIL: the tests started %d processes, at most %d: make them start fewer, or move rows to make every\n",
			Started(), most)
		return 1
	}
	return code
}
