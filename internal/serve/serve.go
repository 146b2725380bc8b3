// Package serve is ralph for every repository that its GitHub App is installed on: it keeps what GitHub delivers,
// decides what asks for work, and has a process of its own do each piece. server.go is the page to begin with.
package serve
