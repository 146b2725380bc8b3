// Package failure reads what failing tools print: the places and tests that it names, what it says is missing, and the
// signature by which the same failure is known again.
package failure
