//go:build !man

package main

// manPages adds the command that prints the manual, in the build that makes a release's files: see man.go.
type manPages struct{} //nolint:unused // said above
