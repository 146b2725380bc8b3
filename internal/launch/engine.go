package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// UnfitError says why an image, or a server, runs no containers, and what to do. It is a sentence for whoever asked.
type UnfitError struct{ Why string }

func (e *UnfitError) Error() string { return e.Why }

// readied is what was found out about an image.
type readied struct {
	engine string
	at     time.Time
}

const (
	keepReady = 5 * time.Minute  // an image that could be run is not tried again
	askTime   = 10 * time.Second // for what an engine knows by itself
	tryTime   = time.Minute
	pullTime  = 10 * time.Minute
)

// engines are the engines' clients that are installed, the first to be taken first.
func (c *Containers) engines() (found []string) {
	for _, name := range []string{"docker", "podman"} {
		if program, err := proc.LookPath(name, c.Environ); err == nil {
			found = append(found, program)
		}
	}
	return found
}

// Engine is the engine that answers; its name is "docker" or "podman". An *UnfitError says that none is installed, any
// other that none answers.
func (c *Containers) Engine(ctx context.Context) (string, error) {
	answer, err := c.answering(ctx)
	if err != nil {
		return "", err
	}
	return filepath.Base(answer[0]), nil
}

// answering are the engines that answer.
func (c *Containers) answering(ctx context.Context) (all []string, err error) {
	installed := c.engines()
	if len(installed) == 0 {
		return nil, &UnfitError{"this server runs no containers: neither docker nor podman is installed. Have whoever runs " +
			"it install one, or set dispatch to process"}
	}
	for _, engine := range installed {
		_, failed := c.ask(ctx, askTime, engine, "ps", "--quiet", "--last", "1")
		if failed == nil {
			all = append(all, engine)
		}
		err = errors.Join(err, failed)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the container engine does not answer; start it, or let this server's user use it: %w", err)
	}
	return all, nil
}

// Ready finds out, by running a container, whether jobs can be done in an image: it must have git and the programs that
// are named. It is pulled where it is not there. An *UnfitError is for whoever chose the image; any other is of this
// server, and may pass.
func (c *Containers) Ready(ctx context.Context, image string, programs ...string) error {
	c.Sweep()
	c.trying.Lock()
	defer c.trying.Unlock()
	key := strings.Join(append([]string{image}, programs...), "\n")
	if known, ok := c.known(key); ok && time.Since(known.at) < keepReady {
		return nil
	}
	engines, err := c.answering(ctx)
	if err != nil {
		return err
	}
	var problems error
	for _, engine := range engines {
		problem := c.try(ctx, engine, image, programs)
		if problem == nil {
			c.note(key, image, engine)
			return nil
		}
		if problems == nil {
			problems = problem
		}
	}
	return problems
}

// Here reports whether an image is on this machine, so that Ready does not pull it.
func (c *Containers) Here(ctx context.Context, image string) bool {
	return slices.ContainsFunc(c.engines(), func(engine string) bool { return c.has(ctx, engine, image) })
}

func (c *Containers) has(ctx context.Context, engine, image string) bool {
	_, err := c.ask(ctx, askTime, engine, "image", "inspect", "--format", "{{.Id}}", image)
	return err == nil
}

// mostReady is how many images are remembered.
const mostReady = 1000

func (c *Containers) note(key, image, engine string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil || len(c.ready) > mostReady {
		c.ready = map[string]readied{}
	}
	now := readied{engine, time.Now()}
	c.ready[key], c.ready[image] = now, now
}

// known is the engine that has run an image.
func (c *Containers) known(image string) (readied, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.ready[image]
	return known, ok
}

// try runs our program in a container of the image.
func (c *Containers) try(ctx context.Context, engine, image string, programs []string) error {
	name := filepath.Base(engine)
	if !c.has(ctx, engine, image) {
		if _, err := c.ask(ctx, pullTime, engine, "pull", "--quiet", image); err != nil {
			return &UnfitError{fmt.Sprintf("the image %s is not on this server, and %s cannot pull it: %s. Name one that can be "+
				"pulled with the setting image, or have whoever runs the server pull it", image, name, lastLine(err))}
		}
	}
	args := append([]string{"run", "--rm"}, c.fence()...)
	args = append(args, "--network", "none", "--mount", "type=bind,source="+c.Program+",target="+programAt+",readonly",
		"--entrypoint", programAt, image, "work")
	for _, program := range append([]string{"git", "sh"}, programs...) {
		args = append(args, "--needs", program)
	}
	out, err := c.ask(ctx, tryTime, engine, args...)
	if err != nil {
		return &UnfitError{fmt.Sprintf("%s cannot run a container of the image %s: %s. Try `%s run --rm %s true` on the "+
			"server, or name another image with the setting image", name, image, lastLine(err), name, image)}
	}
	if lacks := strings.Fields(out); len(lacks) > 0 {
		return &UnfitError{fmt.Sprintf("the image %s lacks %s: add it to the image where PATH finds it, or name another with "+
			"the setting image", image, strings.Join(lacks, ", "))}
	}
	return nil
}

// ask runs a command of an engine's client. Its error has what that printed.
func (c *Containers) ask(ctx context.Context, most time.Duration, engine string, args ...string) (string, error) {
	var out, told tail
	result, err := proc.Run(ctx, proc.Spec{Argv: append([]string{engine}, args...), Dir: "/", Env: c.client(),
		Stdout: &out, Stderr: &told, Timeout: most})
	if err == nil && (result.Class != proc.Exited || result.Exit != 0) {
		said := strings.TrimSpace(told.String())
		if said == "" {
			said = how(result)
		}
		err = fmt.Errorf("%s %s: %s", filepath.Base(engine), args[0], safetext.InertLines(said))
	}
	return out.String(), err
}

// lastLine is the last thing that an engine has said, without its advice to read the manual.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for len(lines) > 1 && (strings.HasPrefix(lines[len(lines)-1], "See '") || strings.TrimSpace(lines[len(lines)-1]) == "") {
		lines = lines[:len(lines)-1]
	}
	return strings.TrimSuffix(safetext.FirstRunes(safetext.OneLine(lines[len(lines)-1]), 300), ".")
}
