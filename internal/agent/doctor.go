package agent

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// Found is what there is of an agent on this machine.
type Found struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`    // "": it is not installed
	Version string `json:"version,omitempty"` // "2.1.329"; "" it does not say
	// Credential is where one is: "key in ANTHROPIC_API_KEY", "login in ~/.claude/.credentials.json"; never what it is. ""
	// is nowhere.
	Credential string `json:"credential,omitempty"`
	// Advice is what to do before it can be used; "" nothing.
	Advice string `json:"advice,omitempty"`
}

// versionLimit is how long an agent may take to say its version.
const versionLimit = 10 * time.Second

// Look finds out what there is of the agent that the options name. It starts the agent once, for its version, without a
// credential and without the way to a proxy.
func Look(ctx context.Context, o Options) Found {
	d, known := dialectOf(o.Command)
	f := Found{Name: o.Command}
	path, err := resolve(o, o.Parent)
	if err != nil {
		if f.Advice = (&UnknownError{o.Command, err}).Error(); known {
			f.Advice += " (" + d.login.install + ")"
		}
		return f
	}
	f.Path = path
	if !known { // what it would do when asked for its version, no one knows
		return f
	}
	if f.Version, err = version(ctx, d, o, path); err != nil {
		f.Advice = err.Error()
	}
	if f.Credential = credential(d, o); f.Credential == "" && !d.login.lax && f.Advice == "" {
		f.Advice = "no credential for " + d.name + " was found: " + d.login.how
	}
	return f
}

// LookForAll looks for every agent that ralph knows, all at the same time.
func LookForAll(ctx context.Context, o Options) []Found {
	names := Names()
	found := make([]Found, len(names))
	var looking sync.WaitGroup
	for i, name := range names {
		looking.Go(func() {
			o := o
			o.Command = name
			found[i] = Look(ctx, o)
		})
	}
	looking.Wait()
	return found
}

var versions = lazy(`\d+\.\d+[0-9A-Za-z.+-]*`)

// version is what the agent says of itself. The error is a sentence.
func version(ctx context.Context, d dialect, o Options, path string) (string, error) {
	said := proc.NewTail(4<<10, 0)
	allow := slices.DeleteFunc(slices.Clone(proc.Allowed),
		func(name string) bool { return strings.HasSuffix(strings.ToUpper(name), "_PROXY") })
	end, err := proc.Run(ctx, proc.Spec{
		Argv: []string{path, "--version"}, Dir: os.TempDir(),
		Env:    proc.Environment(o.Parent, allow, d.environment(Options{Host: Host{As: o.As}})...),
		Stdout: said, Stderr: said, Timeout: versionLimit, Ending: proc.Ending{Grace: time.Second},
	})
	again := ": see what " + path + " --version says, and install it again (" + d.login.install + ")"
	switch {
	case err != nil:
		return "", err
	case end.Class == proc.TimedOut:
		return "", fmt.Errorf("%s does not say its version within %s%s", d.name, versionLimit, again)
	case end.Class != proc.Exited || end.Exit != 0:
		return "", fmt.Errorf("%s cannot say its version (%s, exit code %d)%s", d.name, end.Class, end.Exit, again)
	}
	if number := versions.FindString(said.String()); number != "" {
		return oneLine(number), nil
	}
	return "of no number", nil
}
