package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// version is what the build was given: -X main.version=v1.2.3. Releases and make build give one.
var version string

// programVersion is what ralph calls itself: the version that the build was given, or what Go wrote into the program: the
// version after "go install …@version", and the commit after a plain "go build" in a clone.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// mostFailure is how much of a recorded failure is read.
const mostFailure = 64 << 20

type signatureCommand struct {
	File    string `arg:"" optional:"" default:"-" placeholder:"FILE" help:"What a failing check printed. Default: -, which is standard input."`
	Check   string `placeholder:"NAME" help:"The check that failed: in a run, each check has signatures of its own. Default: none."`
	Explain bool   `help:"Print the text that is hashed too."`
}

// Run implements ralph signature: it prints the hash of a failure, which is the same whenever the same failure happens.
func (c *signatureCommand) Run(ctx context.Context, p process) error {
	text, err := c.read(ctx, p)
	if err != nil {
		return invalid.Mark(err)
	}
	output := failure.Read(text)
	_, err = fmt.Fprintln(p.out, output.Signature(c.Check))
	if err == nil && c.Explain {
		_, err = fmt.Fprintln(p.out, output.Explain())
	}
	return err
}

func (c *signatureCommand) read(ctx context.Context, p process) (string, error) {
	file, err := open(p, c.File)
	if err != nil {
		return "", err
	}
	defer file.Close()
	name := c.File
	if name == "-" {
		name = standardInput
	}
	return readText(ctx, file, name, mostFailure, "pass the output of a failing check; of a long one its end, as with tail -c 1M")
}
