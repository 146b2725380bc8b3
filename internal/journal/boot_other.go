//go:build !linux && !darwin

package journal

// bootID is empty: this system does not tell.
func bootID() string { return "" }
