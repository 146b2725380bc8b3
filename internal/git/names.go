package git

import (
	"context"
	"fmt"
	"strings"
)

// CheckBranchName says why a name cannot be a branch's.
func CheckBranchName(ctx context.Context, name string) error {
	bad := fmt.Errorf("%q is not a name that git allows for a branch: see git help check-ref-format", name)
	if name == "" || name == "HEAD" || strings.HasPrefix(name, "-") {
		return bad
	}
	_, err := door{env: environment(nil)}.out(ctx, "check-ref-format", "refs/heads/"+name)
	if exit(err) > 0 {
		return bad
	}
	return err
}

// RemoteURL is where the clone in dir was made from: the remote origin, else the only one there is. "" when there is
// none.
func RemoteURL(ctx context.Context, dir string, env []string) (string, error) {
	d := door{dir: dir, env: environment(env), pair: safe}
	out, err := d.out(ctx, "remote")
	if err != nil {
		return "", fmt.Errorf("looking for the remotes of %s: %w", dir, err)
	}
	names := fields(out)
	name := "origin"
	if len(names) == 1 {
		name = names[0]
	}
	out, err = d.out(ctx, "remote", "get-url", name)
	if err != nil {
		return "", nil // git has said that there is no such remote
	}
	return strings.TrimSpace(out), nil
}
