package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// version is what the build was given: -X main.version=v1.2.3. Releases and make build give one.
var version string

// programVersion is what ralph calls itself: the version that the build was given, or what Go wrote into the program:
// the module's version after "go install …@version", and the commit after a plain "go build".
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return versionOf(info)
}

// unknownVersion is that of a program that no one gave one.
const unknownVersion = "dev"

// versionOf is the version that Go knows of a program: "v1.2.3", or "dev 0123456789ab" with "and changes" behind it
// where the files were not those of that commit.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.modified":
			if setting.Value == "true" {
				changed = " and changes"
			}
		}
	}
	if commit == "" {
		return unknownVersion
	}
	return strings.TrimSpace(unknownVersion + " " + commit[:min(12, len(commit))] + changed)
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
	text, err := io.ReadAll(io.LimitReader(until{ctx, file}, mostFailure+1))
	name := c.File
	if name == "-" {
		name = "standard input"
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("reading a failure from %s: %w", name, err)
	case len(text) > mostFailure:
		return "", fmt.Errorf("%s holds more than %d MiB; give the end of it, as with tail -c 1M", name, mostFailure>>20)
	case strings.TrimSpace(string(text)) == "":
		return "", fmt.Errorf("%s is empty; pass the output of a failing check", name)
	}
	return string(text), nil
}
