package git

import (
	"context"
	"strings"
)

// Top is the top of the clone that dir is in.
func Top(ctx context.Context, dir string, env []string) (string, error) {
	d := door{dir: dir, env: environment(env), pair: safe}
	out, err := d.out(ctx, "rev-parse", "--show-toplevel")
	return strings.TrimSuffix(out, "\n"), err
}
