package git

import (
	"context"
	"crypto/sha1" // the names of git's objects
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Checkout makes the bot's own checkout below o.Root, of the remote's branch base ("" is its default branch) and, when
// they exist, of the run's branch and its record. The working tree is empty until Start.
//
// The repository there is ours: the agent's user may read it and not write it. The working tree is the agent's, with a
// repository of its own in it that borrows our objects. No command of ours reads that one's configuration.
func Checkout(ctx context.Context, o Options, base, branch string) (*Tree, error) {
	if !filepath.IsAbs(o.Root) || o.Remote.URL == "" {
		return nil, errors.New("opening a checkout: a root directory and a remote are needed")
	}
	t := &Tree{history: newHistory(o, branch)}
	if err := t.leaks.refuseName(branch, o.Task); err != nil {
		return nil, err
	}
	if err := errors.Join(t.layOut(o), t.borrow()); err != nil {
		return nil, err
	}
	t.origin = remote{t.git, &t.o.Remote}
	asked := append([]string{"HEAD", t.ref(), t.recordRef()}, inTheWay(t.ref())...)
	if base != "" {
		asked = append(asked, "refs/heads/"+base)
	}
	refs, err := t.git.listRemote(ctx, o.Remote, asked...)
	if err != nil {
		return nil, err
	}
	if base == "" {
		base = strings.TrimPrefix(refs.head, "refs/heads/")
	}
	if base == "" || refs.at["refs/heads/"+base] == "" && refs.at["HEAD"] == "" {
		return nil, badBranch("%s has no commit yet: push a first one, then ask again", o.Remote.shown())
	}
	if refs.at["refs/heads/"+base] == "" && base != strings.TrimPrefix(refs.head, "refs/heads/") {
		return nil, badBranch("%s has no branch %s: create it, or name another base branch in the input base_branch",
			o.Remote.shown(), base)
	}
	if ref := refs.inTheWay(t.ref()); ref != "" {
		return nil, badBranch("the branch %s is in the way of %s, because git cannot keep both: rename it, or set the input "+
			"branch_prefix to another, such as %q", short(ref), branch, path.Dir(branch)+"-")
	}
	t.baseBranch = base
	if err := t.bring(ctx, refs); err != nil {
		return nil, err
	}
	return t, nil
}

// inTheWay are patterns of the refs that cannot be beside a ref: those above it, and all below it.
func inTheWay(ref string) []string {
	patterns := []string{ref + "/*"}
	for above := path.Dir(ref); above != "refs/heads"; above = path.Dir(above) {
		patterns = append(patterns, above)
	}
	return patterns
}

// inTheWay is the first of the refs that cannot be beside another one, of which it is the directory or which is its; ""
// when there is none.
func (refs remoteRefs) inTheWay(of string) string {
	for _, ref := range slices.Sorted(maps.Keys(refs.at)) {
		if strings.HasPrefix(ref, of+"/") || strings.HasPrefix(of, ref+"/") {
			return ref
		}
	}
	return ""
}

func (o Options) work() string       { return filepath.Join(o.Root, "work") }
func (o Options) repository() string { return filepath.Join(o.Root, "repo.git") }
func (o Options) index() string      { return filepath.Join(o.Root, "index") }
func (o Options) excludes() string   { return filepath.Join(o.Root, "excludes") }

// layOut makes the directories, the configuration and an empty repository of ours.
func (ob *objects) layOut(o Options) error {
	at := func(name string) string { return filepath.Join(o.repository(), name) }
	for _, dir := range []string{o.Root, o.work(), at(""), at("objects"), at("objects/info"), at("objects/pack"), at("refs"),
		at("refs/heads"), at("refs/tags")} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil { // whatever the umask
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	for name, text := range map[string]string{
		filepath.Join(o.Root, "gitconfig"): hostConfig + "[core]\n\texcludesFile = " + quoted(o.excludes()) + "\n",
		o.excludes():                       excluded() + runtimeFiles, at("HEAD"): "ref: refs/heads/main\n", at("config"): bareConfig,
	} {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chmod(name, 0o644)); err != nil {
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	who := person(o.Identity.Name, o.Identity.Email)
	env := append(botEnvironment(o), identity(o.Identity)...)
	ob.common, ob.hash, ob.people, ob.sign = at(""), sha1.New, people{who, who}, o.Sign
	ob.git = door{dir: o.work(), pair: append(safe[:len(safe):len(safe)], throwaway...),
		env: append(env, "GIT_DIR="+at(""), "GIT_WORK_TREE="+o.work(), "GIT_INDEX_FILE="+o.index())}
	return nil
}

// bareConfig is the configuration of a repository that others may read and not write.
const bareConfig = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n\tsharedRepository = 0644\n"

// borrow has the bot's repository find objects in its remote's mirror.
func (t *checkout) borrow() error {
	mirror := t.o.Remote.Mirror
	if mirror == "" {
		return nil
	}
	objects := filepath.Join(mirror, "objects")
	if !filepath.IsAbs(mirror) || strings.ContainsAny(mirror, "\n\"") || !exists(objects) {
		return fmt.Errorf("borrowing from the mirror %s: it is no repository", mirror)
	}
	info := filepath.Join(t.dir, "objects", "info") // the agent's user reads it, too
	err := errors.Join(os.MkdirAll(info, 0o755),
		os.WriteFile(filepath.Join(info, "alternates"), []byte(objects+"\n"), 0o644))
	if err != nil {
		return fmt.Errorf("borrowing from the mirror %s: %w", mirror, err)
	}
	return nil
}

// bring fetches what the remote has of the run and settles where it begins.
func (t *Tree) bring(ctx context.Context, refs remoteRefs) error {
	origin := "refs/remotes/origin/"
	// tools make versions of tags
	specs := []string{"+refs/heads/" + t.baseBranch + ":" + origin + t.baseBranch, "+refs/tags/*:refs/tags/*"}
	t.pushed = pushed{branch: refs.at[t.ref()], record: refs.at[t.recordRef()]}
	if t.pushed.branch != "" && t.branch != t.baseBranch {
		specs = append(specs, "+"+t.ref()+":"+origin+t.branch)
	}
	if t.pushed.record != "" {
		specs = append(specs, "+"+t.recordRef()+":"+t.recordRef())
	}
	if err := t.git.fetch(ctx, t.o.Remote, nil, specs...); err != nil {
		return err
	}
	tip := origin + t.baseBranch
	out, err := t.git.out(ctx, "for-each-ref", "--format=%(objectname) %(tree) %(refname)", "refs/tags/", tip)
	if err != nil {
		return fmt.Errorf("reading what was fetched: %w", err)
	}
	t.tags, t.record = map[string]string{}, t.pushed.record
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if tag, ok := strings.CutPrefix(f[len(f)-1], "refs/tags/"); ok {
			t.tags[tag] = f[0]
		} else if len(f) == 3 {
			t.base, t.baseTree = f[0], f[1]
		}
	}
	if t.pushed.branch != "" && !t.o.Fresh {
		return t.begin(ctx, t.base, t.pushed.branch)
	}
	t.head, t.headTree = t.base, t.baseTree
	return nil
}

// begin settles base and head: at the tip of the base branch, or where the run's earlier work left that.
func (t *history) begin(ctx context.Context, tip, work string) error {
	if work != "" {
		if err := t.UseBase(ctx, tip); err != nil {
			return err
		}
		t.newest = [2]string{t.base, t.baseTree}
		out, err := t.git.out(ctx, "merge-base", tip, work)
		if err != nil {
			return fmt.Errorf("the branch %s has no commit in common with %s: rename or delete it, then ask again", t.branch,
				t.baseBranch)
		}
		tip = strings.TrimSpace(out)
	}
	if err := t.UseBase(ctx, tip); err != nil {
		return err
	}
	t.head, t.headTree = t.base, t.baseTree
	if work == "" {
		return nil
	}
	out, err := t.git.out(ctx, "rev-parse", work+"^{commit}", work+"^{tree}")
	if ids := strings.Fields(out); err == nil && len(ids) == 2 {
		t.head, t.headTree = ids[0], ids[1]
		return nil
	}
	return fmt.Errorf("reading the branch %s: %w", t.branch, err)
}

// quoted is a value of a configuration file.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}
