package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// place is where a scene is played: clone is the repository, home its user's home, bin the programs beside those of the
// system.
type place struct {
	ralph string
	dir   string
	clone string // where ralph is started
	said  bytes.Buffer
	stay  []string // more of ralph's environment
}

// write makes a file of the place.
func (p *place) write(name, text string) error {
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if executable(text) {
		mode = 0o755
	}
	return os.WriteFile(path, []byte(text), mode)
}

// environ is what programs are started with: nothing of ours but PATH.
func (p *place) environ() []string {
	return append([]string{
		"HOME=" + filepath.Join(p.dir, "home"),
		"PATH=" + filepath.Join(p.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "RALPH_SANDBOX=off", "LC_ALL=C",
	}, p.stay...)
}

// git runs a git command in the clone.
func (p *place) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = p.clone, p.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// begin makes the clone a repository with one commit.
func (p *place) begin(ctx context.Context) error {
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"add", "."}, {"commit", "-qm", "seed"}} {
		if err := p.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// start starts ralph in the clone.
func (p *place) start(ctx context.Context, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, p.ralph, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.clone, p.environ(), &p.said, &p.said
	return cmd, cmd.Start()
}

// runs runs ralph to its end, and holds its exit code against a number.
func (p *place) runs(ctx context.Context, code int, args ...string) error {
	cmd, err := p.start(ctx, args...)
	if err != nil {
		return err
	}
	_ = cmd.Wait() // the code says it
	if got := cmd.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("ralph %s ended with exit code %d, want %d", args[0], got, code)
	}
	return nil
}

// killed runs ralph until a file is there, and kills it.
func (p *place) killed(ctx context.Context, file string, args ...string) error {
	cmd, err := p.start(ctx, args...)
	if err != nil {
		return err
	}
	if err := p.await(ctx, file); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	_ = cmd.Wait() // it was killed
	time.Sleep(time.Second)
	return nil
}

// interrupted runs ralph until a file is there, and stops it by two signals.
func (p *place) interrupted(ctx context.Context, file string, args ...string) error {
	cmd, err := p.start(ctx, args...)
	if err != nil {
		return err
	}
	if err := p.await(ctx, file); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	for range 2 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	_ = cmd.Wait() // the code says it
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		return fmt.Errorf("ralph ended with exit code %d, want 130", got)
	}
	return nil
}

// await waits until a file of the place is there.
func (p *place) await(ctx context.Context, name string) error {
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(name))); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s does not come: %w", name, ctx.Err())
}
