//go:build man

// go run -tags man ./cmd/ralph man: only what makes a release's files carries the library that writes manuals.

package main

import (
	"io"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

// manPages adds the command that prints the manual.
type manPages struct {
	Man manCommand `cmd:"" hidden:"" help:"Print the manual, for man 1 ralph."`
}

type manCommand struct{}

// Run implements ralph man.
func (manCommand) Run(k *kong.Kong, p process) error {
	describe(k.Model.Node)
	exemplify(k.Model.Node, "")
	_, err := io.WriteString(p.out, mangokong.NewManPage(1, k.Model).Build(roff.NewDocument())+"\n")
	return err
}
