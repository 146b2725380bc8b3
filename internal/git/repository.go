package git

import (
	"bytes"
	"context"
	"crypto/sha1" // the names of git's objects
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// layBeside makes the harness's repository beside the checkout of a clone: a few files with what git would read in the
// clone, over its objects.
func (t *Tree) layBeside(ctx context.Context, c *clone) error {
	for _, dir := range []string{t.work, filepath.Join(t.dir, "refs", "heads"), filepath.Join(t.dir, "info")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	who, err := whoCommits(ctx, c.top, t.o.Env)
	if err != nil {
		return err
	}
	if who == nil {
		who = identity(t.o.Identity)
	} else {
		t.o.Identity = Identity{proc.Value(who, "GIT_AUTHOR_NAME"), proc.Value(who, "GIT_AUTHOR_EMAIL")}
	}
	t.by = person(proc.Value(who, "GIT_COMMITTER_NAME"), proc.Value(who, "GIT_COMMITTER_EMAIL"))
	t.writer = person(proc.Value(who, "GIT_AUTHOR_NAME"), proc.Value(who, "GIT_AUTHOR_EMAIL"))
	if t.hash, t.sign = sha1.New, t.o.Sign; len(c.head.commit) == 2*sha256.Size {
		t.hash = sha256.New
	}
	u, err := t.usersConfig(ctx, c)
	if err != nil {
		return err
	}
	t.o.Remote, t.gpg = Remote{URL: u.remote}, u.signs
	var more []byte // of the turn that is continued
	if _, list, ok := bytes.Cut(readQuietly(t.o.excludes()), []byte(leftOut)); ok && t.o.Unsettled {
		more = append([]byte(leftOut), list...)
	}
	texts := map[string][]byte{
		filepath.Join(t.dir, "HEAD"): []byte("ref: " + t.ref() + "\n"), filepath.Join(t.dir, "config"): u.config,
		filepath.Join(t.dir, "attributes"): readQuietly(u.attributes), t.o.excludes(): slices.Concat([]byte(toolsLeave),
			readQuietly(u.excludes), []byte("\n"), readQuietly(filepath.Join(c.common, "info", "exclude")), []byte("\n"+runtimeFiles), more),
	}
	for name, from := range map[string]string{
		"info/attributes": filepath.Join(c.common, "info", "attributes"), "shallow": filepath.Join(c.common, "shallow"),
		"info/sparse-checkout": filepath.Join(c.dir, "info", "sparse-checkout"),
	} {
		text, err := readText(from)
		if err != nil {
			return fmt.Errorf("reading the clone's configuration: %w", err)
		}
		texts[filepath.Join(t.dir, name)] = text.text
	}
	if t.settings = u.settings; u.sparse != nil {
		t.sparse = texts[filepath.Join(t.dir, "info/sparse-checkout")]
	}
	t.attributes = texts[filepath.Join(t.dir, "info/attributes")]
	for name, text := range texts {
		if err = os.Remove(name); text != nil {
			err = files.Put(name, text, 0o644)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	for _, dir := range []string{c.dir, c.common} {
		if keys := filepath.Join(dir, "git-crypt"); t.keys == "" && isDirectory(keys) {
			t.keys = keys
		}
	}
	at := filepath.Join(t.dir, "git-crypt")
	if err := os.Remove(at); t.keys != "" && (err == nil || errors.Is(err, os.ErrNotExist)) {
		if err := os.Symlink(t.keys, at); err != nil {
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	removeLocks(t.dir) // of a process that died: this one has the task's lock
	for _, name := range halfDone {
		_ = os.RemoveAll(filepath.Join(t.dir, name)) // the next rebase reports what is in the way
	}
	t.git = door{dir: t.work, pair: slices.Concat(safe, offline), env: append(environment(t.o.Env),
		"GIT_DIR="+t.dir, "GIT_WORK_TREE="+t.work, "GIT_INDEX_FILE="+t.index,
		"GIT_OBJECT_DIRECTORY="+filepath.Join(c.common, "objects"), "GIT_LFS_SKIP_DOWNLOAD_ERRORS=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0")}
	t.git.env = append(t.git.env, who...)
	return nil
}

// contentKeys say how contents are written and read. A dot at the end takes a whole section.
var contentKeys = []string{
	"core.autocrlf", "core.eol", "core.safecrlf", "core.checkroundtripencoding", "core.filemode", "core.symlinks",
	"core.ignorecase", "core.precomposeunicode", "core.protecthfs", "core.protectntfs", "core.longpaths", "filter.", "i18n.",
}

// takenKeys are what the harness takes besides of the configuration that git would use for its user: who signs, and the
// format of the repository.
var takenKeys = []string{
	"commit.gpgsign", "user.signingkey", "gpg.", "core.bigfilethreshold", "core.sharedrepository",
	"core.sparsecheckout", "core.sparsecheckoutcone", "core.repositoryformatversion", "extensions.objectformat", "lfs.",
}

// usersConfig is what the harness takes of the configuration that git would use for its user.
type usersConfig struct {
	settings
	signs                bool   // git signs commits
	config               []byte // for the harness's repository
	attributes, excludes string // the user's own files for all repositories
	remote               string // the URL of origin, without its user
}

func (t *Tree) usersConfig(ctx context.Context, c *clone) (u usersConfig, err error) {
	d := door{dir: c.top, env: usersEnvironment(t.o.Env)}
	out, err := d.out(ctx, "config", "--includes", "--list", "-z")
	if err != nil {
		return u, fmt.Errorf("reading the clone's configuration: %w", err)
	}
	home, xdg := proc.Value(t.o.Env, "HOME"), proc.Value(t.o.Env, "XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = filepath.Join(home, ".config")
	}
	u.attributes, u.excludes = filepath.Join(xdg, "git", "attributes"), filepath.Join(xdg, "git", "ignore")
	var b bytes.Buffer
	fmt.Fprintf(&b, "[core]\n\tbare = false\n\tattributesFile = %s\n\texcludesFile = %s\n[lfs]\n\tstorage = %s\n",
		quoted(filepath.Join(t.dir, "attributes")), quoted(t.o.excludes()), quoted(filepath.Join(c.common, "lfs")))
	c.config = map[string]string{}
	for _, entry := range records(out) {
		name, value, set := strings.Cut(entry, "\n")
		c.config[name] = value
		path := value
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			path = filepath.Join(home, rest)
		}
		yes := !set || slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value))
		switch {
		case name == "core.attributesfile":
			u.attributes = path
		case name == "core.excludesfile":
			u.excludes = path
		case name == "commit.gpgsign":
			u.signs = yes
		case name == "core.sparsecheckout" && yes:
			u.sparse = []byte{}
		case name == "remote.origin.url":
			u.remote = Remote{URL: value}.shown()
		case name == "extensions.partialclone":
			u.partial = value
		case strings.HasPrefix(name, "remote.") && strings.HasSuffix(name, ".promisor") && yes:
			u.partial = strings.TrimSuffix(strings.TrimPrefix(name, "remote."), ".promisor")
		case strings.HasPrefix(name, "filter.lfs."):
			u.large = true
		case strings.HasPrefix(name, "filter.") && strings.HasSuffix(name, ".required") && yes:
			u.filter = strings.TrimSuffix(strings.TrimPrefix(name, "filter."), ".required")
		}
		switch {
		case takes(contentKeys, name):
			u.contents = append(u.contents, setting(name, value, set)...)
		case takes(takenKeys, name):
			b.WriteString(setting(name, value, set))
		}
	}
	if u.partial != "" { // from there nothing is fetched but by the clone's own git
		name := "remote." + u.partial
		u.contents = append(u.contents, setting(name+".promisor", "true", true)...)
		b.WriteString(setting(name+".url", "file:///dev/null/none", true))
	}
	u.config = append(b.Bytes(), u.contents...)
	return u, nil
}

func takes(keys []string, name string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		return name == key || strings.HasSuffix(key, ".") && strings.HasPrefix(name, key)
	})
}

// setting is one entry of a configuration file; set is false for a name without a value, which means true.
func setting(name, value string, set bool) string {
	section, key, _ := strings.Cut(name, ".")
	head := "[" + section + "]"
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		head, key = fmt.Sprintf("[%s %s]", section, quoted(key[:i])), key[i+1:]
	}
	if !set {
		return head + "\n\t" + key + "\n"
	}
	return head + "\n\t" + key + " = " + quoted(value) + "\n"
}
