// Package greet says hello.
package greet

// Greet greets someone by name.
func Greet(name string) string {
	return "Hello, " + name + "!"
}
