//go:build linux

package main

// reasons say, for each sandbox and each row of the table, why somebody reaches it all the same.
var reasons = map[string]map[string]string{"off": {}, "landlock": {}, "bwrap": {}}
