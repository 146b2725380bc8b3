package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// namespacesSwitch is what the kernel of Ubuntu has against namespaces made by users without rights, and so against
// bubblewrap: 1 forbids them.
const namespacesSwitch = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// installLimit is how long one command may take: a mirror of packages may be slow.
const installLimit = 3 * time.Minute

// install brings bubblewrap, by apt-get, and lets it make namespaces.
func (o *Options) install(ctx context.Context) error {
	if _, err := proc.LookPath("apt-get", o.Parent); err != nil {
		return errors.New("there is no apt-get here")
	}
	if _, err := proc.LookPath("bwrap", o.Parent); err != nil {
		const bring = "apt-get install --yes --no-install-recommends bubblewrap"
		if o.asRoot(ctx, bring) != nil { // the lists of packages may be old, or not there
			if err := o.asRoot(ctx, "apt-get update"); err != nil {
				return err
			}
			if err := o.asRoot(ctx, bring); err != nil {
				return err
			}
		}
	}
	if said, err := os.ReadFile(namespacesSwitch); err == nil && strings.TrimSpace(string(said)) != "0" {
		return o.asRoot(ctx, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
	}
	return nil
}

// asRoot runs a command as root, without a question for a password.
func (o *Options) asRoot(ctx context.Context, line string) error {
	argv := strings.Fields(line)
	if os.Geteuid() != 0 {
		argv = append([]string{"sudo", "-n"}, argv...)
	}
	said := proc.NewTail(0, 4<<10)
	end, err := proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: "/", Env: append(proc.Environment(o.Parent, proc.Allowed), "DEBIAN_FRONTEND=noninteractive"),
		Stdout: said, Stderr: said, Timeout: installLimit, Ending: proc.Ending{Grace: 5 * time.Second},
	})
	switch {
	case err != nil:
		return fmt.Errorf("running %s: %w", argv[0], err)
	case ctx.Err() != nil:
		return ctx.Err()
	case end.Class != proc.Exited || end.Exit != 0:
		return fmt.Errorf("%s: %s, exit code %d: %s", strings.Join(argv, " "), end.Class, end.Exit,
			safetext.Shorten(safetext.OneLine(strings.TrimSpace(said.String())), 300))
	}
	return nil
}
