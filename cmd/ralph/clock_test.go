package main

import (
	"os"
	"time"
)

// clockFile is the variable of a test that names a file with how far the clock is off, such as 1h.
const clockFile = "RALPH_TEST_CLOCK"

// setClock makes the clock of this process that of the file.
func setClock(file string) {
	right := now
	now = func() time.Time {
		text, _ := os.ReadFile(file)
		by, _ := time.ParseDuration(string(text))
		return right().Add(by)
	}
}
