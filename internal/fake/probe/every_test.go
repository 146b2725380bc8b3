//go:build linux && e2e

package main

// every says that all configurations are tried.
const every = true
