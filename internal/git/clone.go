package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// clone is the origin of a run on a laptop: the objects are there already, so only refs move. They do in one
// transaction, without a hook. Nothing else of the clone is touched: a branch that is checked out somewhere is not
// moved under its user; what it should be is kept at the tip instead.
type clone struct {
	users
	tip    string            // "refs/ralph/tip/issue-42"
	tips   string            // the commit that the tip is at, as far as we have moved it
	config map[string]string // what git's configuration says there, each key as it was set last
	// held is the branch that stands still, and the directory that it is checked out in.
	held [2]string
}

// errHeld says that the branch is checked out, so the push left it.
var errHeld = errors.New("the branch is checked out, so it is not moved")

func (c *clone) list(ctx context.Context, patterns ...string) (remoteRefs, error) {
	at, _, err := c.refs(ctx, patterns...)
	return remoteRefs{at: at}, err
}

// refs are refs with the commits that they are at, and the working trees that branches are checked out in.
func (c *clone) refs(ctx context.Context, patterns ...string) (at, used map[string]string, err error) {
	all, err := c.door.refs(ctx, patterns...)
	at, used = map[string]string{}, map[string]string{}
	for _, r := range all {
		at[r.Ref], used[r.Ref] = r.Commit, r.Used
	}
	return at, used, err
}

// fetch makes refs of the harness's repository what refs of the clone are. Their objects are there.
func (c *clone) fetch(context.Context, ...string) error { return nil }

func (c *clone) push(ctx context.Context, moves []move) error {
	names := safetext.Map(moves, func(m move) string { return m.ref })
	now, used, err := c.refs(ctx, append(names, c.tip)...)
	if err != nil {
		return err
	}
	in, held := "start\n", false
	tip := now[c.tip]
	for _, m := range moves {
		if m.leased && strings.HasPrefix(m.ref, "refs/heads/") && used[m.ref] != "" {
			if c.held = [2]string{m.ref, used[m.ref]}; tip != m.to {
				in += transaction(c.tip, tip, m.to)
			}
			held, tip = true, m.to
			continue
		}
		if m.ref == c.held[0] {
			c.held = [2]string{}
		}
		// one that its user has deleted is made again
		if m.leased && now[m.ref] != m.from && now[m.ref] != "" && !c.forward(ctx, now[m.ref], m.to) {
			return &staleError{short(m.ref) + " is at " + now[m.ref]}
		}
		in += transaction(m.ref, now[m.ref], m.to)
		if m.leased && tip != "" && m.ref != c.tip && strings.HasPrefix(m.ref, "refs/heads/") {
			in, tip = in+transaction(c.tip, tip, ""), "" // the branch has it now
		}
	}
	in += "prepare\ncommit\n"
	_, stderr, err := c.door.run(ctx, call{in: strings.NewReader(in), args: []string{"update-ref", "--stdin"}})
	switch {
	case err != nil && strings.Contains(stderr, "but expected"):
		return &staleError{lastLine(stderr)}
	case err != nil:
		return fmt.Errorf("moving refs of %s: %w", c.top, err)
	}
	if c.tips = tip; held {
		return errHeld
	}
	return nil
}

// forward reports whether a commit continues from where a branch is: its user has merged what the tip had.
func (c *clone) forward(ctx context.Context, from, to string) bool {
	if from == "" || to == "" {
		return false
	}
	on, err := c.door.contains(ctx, to, from)
	return err == nil && on
}

func (c *clone) hold(ctx context.Context, commit, branch string) (ref string, err error) {
	if err := excludeRuntimeFiles(c.common); err != nil {
		return "", fmt.Errorf("keeping ralph's own files out of commits: %w", err)
	}
	if commit == branch {
		return "", nil
	}
	if _, err := c.door.out(ctx, "update-ref", c.tip, commit); err != nil {
		return "", fmt.Errorf("holding commit %.12s in %s: %w", commit, c.top, err)
	}
	c.tips = commit
	return c.tip, nil
}

// bring checks a commit out by the clone's own repository, which fetches what it lacks.
func (c *clone) bring(ctx context.Context, commit, work, index string) error {
	_, _, err := c.door.run(ctx, call{args: []string{"read-tree", "--reset", "-u", commit},
		env: []string{"GIT_WORK_TREE=" + work, "GIT_INDEX_FILE=" + index}})
	if err != nil {
		return fmt.Errorf("fetching what the clone lacks of commit %.12s: %w; run git checkout %.12[1]s in the clone while "+
			"its remote can be reached, then run again", commit, err)
	}
	return nil
}

// refLocks are the locks of the refs that a run moves. No other lock of its user's is in its way.
func (c *clone) refLocks(branch string) (found []string) {
	found = existing(filepath.Join(c.common, "packed-refs.lock"), filepath.Join(c.common, filepath.FromSlash(branch+".lock")))
	for _, dir := range []string{"refs/ralph", "refs/heads/wip"} {
		found = append(found, locksBelow(filepath.Join(c.common, filepath.FromSlash(dir)))...)
	}
	return found
}

// fetchRemote brings a branch as the clone's own remote has it, and says where it is; empty: there is no such remote, or
// it cannot be asked without a question to the user. No ref of the clone moves.
func (c *clone) fetchRemote(ctx context.Context, branch string) string {
	ctx, cancel := context.WithTimeout(ctx, remoteLimit)
	defer cancel()
	remote := cmp.Or(c.config["branch."+branch+".remote"], "origin")
	if c.config["remote."+remote+".url"] == "" {
		return ""
	}
	ref := cmp.Or(c.config["branch."+branch+".merge"], "refs/heads/"+branch)
	d := c.unasked(c.door)
	out, err := d.out(ctx, "ls-remote", "--", remote, ref)
	at, _, _ := strings.Cut(out, "\t")
	if err != nil || at == "" {
		return ""
	}
	if d.bring(ctx, at, remote, ref) != nil {
		return ""
	}
	return at
}

// unasked is a door whose git asks the user nothing: what needs a password fails.
func (c *clone) unasked(d door) door {
	d.env = append(d.env[:len(d.env):len(d.env)], "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS_REQUIRE=never")
	if c.config["core.sshcommand"] == "" && proc.Value(d.env, "GIT_SSH_COMMAND") == "" {
		d.env = append(d.env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return d
}

// bring fetches what a remote has at a ref or commit, unless the commit is there. No ref moves.
func (d door) bring(ctx context.Context, commit, remote, what string) error {
	_, err := d.out(ctx, "cat-file", "-e", commit+"^{commit}")
	if err != nil {
		_, err = d.out(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "--", remote, what)
	}
	return err
}

// remoteLimit is how long the remote of a clone may take to answer.
const remoteLimit = 30 * time.Second
