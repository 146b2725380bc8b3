package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// In a user's clone the harness works by a repository of its own, as it does in the bot's checkout: a few files beside
// the clone that borrow its objects. The index, the excluded files, the attributes and the configuration are those of
// the moment before the first turn. So no mark in the clone's index, no rule in its info/exclude, no replacement, graft
// or setting that an agent has made there says what is committed.

// ownFile is a file of the harness's repository that nobody else is to change.
type ownFile struct {
	text  []byte
	stamp stamp
}

// layRepository makes the harness's repository for the clone, or takes up the one of a process that died within a turn:
// what the clone says by now may be the agent's word.
func (t *Tree) layRepository(ctx context.Context) error {
	for _, dir := range []string{"refs/heads", "info"} {
		if err := os.MkdirAll(filepath.Join(t.dir, dir), 0o700); err != nil {
			return fmt.Errorf("making a place for the run: %w", err)
		}
	}
	if err := t.identify(ctx); err != nil {
		return err
	}
	files, err := t.ownTexts(ctx)
	if err != nil {
		return err
	}
	t.owned = map[string]*ownFile{}
	for name, text := range files {
		if err := t.writeOwn(name, text); err != nil {
			return err
		}
	}
	t.git = door{dir: t.work, pair: safe, env: append(environment(t.o.Env),
		"GIT_DIR="+t.dir, "GIT_WORK_TREE="+t.work, "GIT_INDEX_FILE="+t.index,
		"GIT_OBJECT_DIRECTORY="+filepath.Join(t.user.common, "objects"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0")}
	t.git.env = append(t.git.env, t.who...)
	removeLocks(t.dir) // of a process that died: this one holds the clone
	return nil
}

// writeOwn writes a file of the harness's repository.
func (t *Tree) writeOwn(name string, text []byte) error {
	path := filepath.Join(t.dir, name)
	if text == nil {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("making a place for the run: %w", err)
		}
		t.owned[name] = &ownFile{}
		return nil
	}
	if err := replace(path, text, 0o600); err != nil {
		return fmt.Errorf("making a place for the run: %w", err)
	}
	at, err := stampOf(path)
	t.owned[name] = &ownFile{text, at}
	return err
}

// writeHead puts the run's branch in the harness's repository on a commit.
func (t *Tree) writeHead(commit string) error {
	name := filepath.Join(t.dir, "refs", "heads", t.branch)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("moving the branch %s: %w", t.branch, err)
	}
	if err := replaceVia(filepath.Join(t.dir, "branch"+newSuffix), name, []byte(commit+"\n"), 0o600); err != nil {
		return fmt.Errorf("moving the branch %s: %w", t.branch, err)
	}
	return nil
}

// guardOwn writes the files of the harness's repository again that something else has changed, and makes its index anew
// when that is not as the harness has left it. Where agents run as the same user without a sandbox, nothing else keeps
// them from it. Whoever calls it may change the index, and notes it in the end.
func (t *Tree) guardOwn(ctx context.Context) error {
	for name, f := range t.owned {
		now, err := stampOf(filepath.Join(t.dir, name))
		if f.text == nil && errors.Is(err, fs.ErrNotExist) || err == nil && f.text != nil && now == f.stamp {
			continue
		}
		t.tell("a file of ralph's own repository was changed and is written again")
		if err := t.writeOwn(name, f.text); err != nil {
			return err
		}
	}
	was := t.indexAt
	t.indexAt = stamp{}
	if now, err := stampOf(t.index); was == (stamp{}) || err == nil && now == was {
		return nil
	}
	t.tell("ralph's own index was changed and is made again")
	return t.rebuildIndex(ctx, t.head)
}

// noteIndex remembers the index as the harness leaves it.
func (t *Tree) noteIndex() {
	if !t.bot {
		t.indexAt, _ = stampOf(t.index) // none: it is made again
	}
}

// rebuildIndex makes the index anew, as a commit has it and with the marks that the user had set before the run.
func (t *Tree) rebuildIndex(ctx context.Context, commit string) error {
	if err := os.RemoveAll(t.index); err != nil {
		return fmt.Errorf("making the index again: %w", err)
	}
	t.indexed = ""
	if _, err := t.git.out(ctx, "read-tree", commit); err != nil {
		return fmt.Errorf("making the index again: %w", err)
	}
	for option, names := range t.marks {
		if err := t.setMark(ctx, option, names); ignore(err) != nil {
			return fmt.Errorf("making the index again: %w", err)
		}
	}
	return t.passOver(ctx, commit)
}

// takeIndex makes the harness's index what the clone's is now, before the first turn: with the user's own marks, and
// what is known of each file's state, so that nothing has to be read again.
func (t *Tree) takeIndex(ctx context.Context) error {
	shared, _ := filepath.Glob(filepath.Join(t.user.dir, "sharedindex.*"))
	for _, from := range append(shared, t.user.index()) {
		to := filepath.Join(t.dir, filepath.Base(from))
		if err := copyWhole(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading the clone's index: %w", err)
		}
	}
	t.indexed = ""
	if len(t.modified) > 0 {
		at, err := t.user.where(ctx)
		if err != nil {
			return err
		}
		if err := t.passOver(ctx, at.commit); err != nil {
			return err
		}
	}
	if err := errors.Join(t.unmarkOwn(ctx), t.findMarks(ctx)); err != nil {
		return err
	}
	t.noteIndex()
	return nil
}

// findMarks lists the files that the user has marked as not to be looked at.
func (t *Tree) findMarks(ctx context.Context) error {
	out, err := t.git.out(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return fmt.Errorf("reading the clone's index: %w", err)
	}
	t.marks, t.unseen = map[string][]string{}, map[string]stamp{}
	for _, entry := range records(out) {
		tag, name, _ := strings.Cut(entry, " ")
		if tag == "S" || tag == "s" {
			t.marks["--skip-worktree"] = append(t.marks["--skip-worktree"], name)
		}
		if strings.ToLower(tag) == tag {
			t.marks["--assume-unchanged"] = append(t.marks["--assume-unchanged"], name)
		}
		if tag == "S" || strings.ToLower(tag) == tag {
			if at, err := stampOf(filepath.Join(t.work, name)); err == nil {
				t.unseen[name] = at
			}
		}
	}
	return nil
}

// overlooked names the files with a mark of the user's that were changed since they were last looked at: no commit
// takes them up.
func (t *Tree) overlooked() (names []string) {
	for name, was := range t.unseen {
		if now, err := stampOf(filepath.Join(t.work, name)); err == nil && now != was {
			names = append(names, name)
			t.unseen[name] = now
		}
	}
	slices.Sort(names)
	return names
}

// giveIndex makes the clone's index what the harness's is: the user and the agent see what is committed, and no mark
// that was set since.
func (t *Tree) giveIndex(ctx context.Context) error {
	lock := t.user.index() + ".lock"
	if err := copyWhole(t.index, lock); err != nil {
		return fmt.Errorf("writing the clone's index: %w", err)
	}
	if err := t.showModified(ctx, lock); err != nil {
		return err
	}
	if err := os.Rename(lock, t.user.index()); err != nil {
		return fmt.Errorf("writing the clone's index: %w", err)
	}
	return nil
}

// copyWhole replaces a file by a copy of another.
func copyWhole(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return replace(to, text, 0o644)
}

// ownTexts are the files of the harness's repository, by name; nil for one that must not be there.
func (t *Tree) ownTexts(ctx context.Context) (map[string][]byte, error) {
	files := map[string][]byte{"HEAD": []byte("ref: " + t.ref() + "\n"), "info/exclude": nil, "commondir": nil,
		"info/grafts": nil}
	kept := []string{"config", "attributes", "info/attributes", "info/sparse-checkout", "shallow"}
	if t.o.Died && isRegular(filepath.Join(t.dir, "config")) {
		for _, name := range kept {
			text, err := readText(filepath.Join(t.dir, name))
			if err != nil {
				return nil, fmt.Errorf("reading what an earlier process has left: %w", err)
			}
			files[name] = text.text
		}
		return files, nil
	}
	config, attributes, err := t.usersConfig(ctx)
	if err != nil {
		return nil, err
	}
	files["config"], files["attributes"] = config, attributes
	for name, from := range map[string]string{
		"info/attributes":      filepath.Join(t.user.common, "info", "attributes"),
		"shallow":              filepath.Join(t.user.common, "shallow"),
		"info/sparse-checkout": filepath.Join(t.user.dir, "info", "sparse-checkout"),
	} {
		text, err := readText(from)
		if err != nil {
			return nil, fmt.Errorf("reading the clone's configuration: %w", err)
		}
		files[name] = text.text
	}
	return files, nil
}

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// takenKeys are what the harness takes of the configuration that git would use for its user: who signs, how contents
// are written and read, and how the repository is laid out. A dot at the end takes a whole section.
var takenKeys = []string{
	"commit.gpgsign", "user.signingkey", "gpg.",
	"core.autocrlf", "core.eol", "core.safecrlf", "core.checkroundtripencoding", "core.filemode", "core.symlinks",
	"core.ignorecase",
	"core.precomposeunicode", "core.protecthfs", "core.protectntfs", "core.longpaths", "core.bigfilethreshold",
	"core.sharedrepository",
	"core.sparsecheckout", "core.sparsecheckoutcone", "core.repositoryformatversion", "extensions.objectformat",
	"extensions.partialclone", "filter.", "lfs.", "i18n.", "index.sparse",
}

// lazyKeys are taken where objects are still to be fetched from a remote.
var lazyKeys = []string{"remote.", "url.", "http.", "credential.", "core.sshcommand", "core.askpass", "ssh.",
	"protocol."}

// usersConfig is the configuration of the harness's repository, and the user's own attributes for all repositories.
func (t *Tree) usersConfig(ctx context.Context) (config, attributes []byte, err error) {
	d := door{dir: t.work, env: usersEnvironment(t.o.Env)}
	out, err := d.out(ctx, "config", "--includes", "--list", "-z")
	if err != nil {
		return nil, nil, fmt.Errorf("reading the clone's configuration: %w", err)
	}
	entries, keys := records(out), takenKeys
	if slices.ContainsFunc(entries, func(e string) bool { return strings.HasPrefix(e, "extensions.partialclone\n") }) {
		keys = slices.Concat(keys, lazyKeys)
	}
	var b bytes.Buffer
	b.WriteString("[core]\n\tbare = false\n\tattributesFile = " + quoted(filepath.Join(t.dir, "attributes")) +
		"\n\texcludesFile = /dev/null\n")
	b.WriteString("[lfs]\n\tstorage = " + quoted(filepath.Join(t.user.common, "lfs")) + "\n")
	from := filepath.Join(t.xdgConfig(), "git", "attributes")
	for _, entry := range entries {
		name, value, set := strings.Cut(entry, "\n")
		if name == "core.attributesfile" {
			from = t.fromHome(value)
		}
		if takes(keys, name) {
			b.WriteString(setting(name, value, set))
		}
	}
	text, _ := os.ReadFile(from) // git, too, passes over one that it cannot read
	return b.Bytes(), append([]byte{}, text...), nil
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

// identify settles who the commits are by: whoever git itself would say, else the identity of the options.
func (t *Tree) identify(ctx context.Context) (err error) {
	t.who, err = whoCommits(ctx, t.work, t.o.Env)
	if err == nil && t.who == nil {
		t.who = identity(t.o.Identity)
	}
	return err
}

// whoCommits is who git would say that commits are by, as variables of its environment; nil when the user has not told
// git who they are.
func whoCommits(ctx context.Context, dir string, env []string) (who []string, err error) {
	d := door{dir: dir, env: usersEnvironment(env)}
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		out, err := d.out(ctx, "var", "GIT_"+role+"_IDENT")
		if exit(err) > 0 {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("asking git who commits: %w", err)
		}
		name, rest, _ := strings.Cut(out, " <")
		mail, _, _ := strings.Cut(rest, ">")
		who = append(who, "GIT_"+role+"_NAME="+name, "GIT_"+role+"_EMAIL="+mail)
	}
	return who, nil
}

// xdgConfig is where the user's programs keep their configuration.
func (t *Tree) xdgConfig() string {
	if dir := value(t.o.Env, "XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(value(t.o.Env, "HOME"), ".config")
}

// fromHome is a path of git's configuration, in which a tilde is the user's home.
func (t *Tree) fromHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(value(t.o.Env, "HOME"), rest)
	}
	return path
}
