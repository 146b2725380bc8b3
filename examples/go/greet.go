// Package greet says hello.
package greet

// Greet greets somebody by name.
func Greet(name string) string {
	return "Hello, " + name + "!"
}
