//go:build linux && !e2e

package main

// every says that all configurations are tried; make e2e does that.
const every = false
