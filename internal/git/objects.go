package git

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// objects are what a repository stores: commits, and the files of each. Everything that reads or makes one is here; no
// ref moves by it, and neither an index nor a working tree is examined.
type objects struct {
	git   door
	known known
	// common is where the objects are that the repository has or borrows, and whose "shallow" bounds them.
	common string
	hash   func() hash.Hash // that ids are made by
	people
	sign *Signer // of every commit on a branch that the harness makes; nil: none is signed here
	gpg  bool    // git signs these commits, since its user has told it to
}

// people are who the commits of a run are by: "Name <email>".
type people struct {
	by     string // the committer
	writer string // the author
}

// person is someone as a commit names them.
func person(name, email string) string {
	plain := strings.NewReplacer("<", "", ">", "", "\n", " ", "\x00", "")
	return plain.Replace(name) + " <" + plain.Replace(email) + ">"
}

// entry is a file of a commit, by its path.
type entry struct{ mode, id, name string }

const (
	missing     = "000000" // the mode of what a commit has not
	directory   = "040000"
	regularFile = "100644"
	gitlink     = "160000"
)

// store is the directory that new objects are put into.
func (o *objects) store() string { return filepath.Join(o.common, "objects") }

// put stores an object, as git does: it is there whole or not at all, and everyone who can read its directory can read
// it.
func (o *objects) put(kind string, content []byte) (id string, err error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	sum := o.hash()
	sum.Write(whole)
	id = hex.EncodeToString(sum.Sum(nil))
	at := filepath.Join(o.store(), id[:2], id[2:])
	if exists(at) {
		return id, nil
	}
	if err := o.write(at, whole); err != nil {
		return "", fmt.Errorf("storing a %s in the repository: %w", kind, err)
	}
	return id, nil
}

func (o *objects) write(at string, object []byte) error {
	of, err := os.Stat(o.store())
	if err != nil {
		return err
	}
	dir := filepath.Dir(at)
	if err = os.Mkdir(dir, 0o777); err == nil {
		err = os.Chmod(dir, of.Mode()) // shared with whom the others are
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	file, err := os.CreateTemp(dir, "tmp_obj_") // git removes such files when they are old
	if err != nil {
		return err
	}
	packed := zlib.NewWriter(file)
	_, err = packed.Write(object)
	if err = errors.Join(err, packed.Close(), file.Chmod(of.Mode().Perm()&0o444), file.Close()); err == nil {
		err = os.Rename(file.Name(), at)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// files stores contents as they are, whatever a tree's attributes say.
func (o *objects) files(contents map[string][]byte) (all []entry, err error) {
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		id, err := o.put("blob", contents[name])
		if err != nil {
			return nil, err
		}
		all = append(all, entry{regularFile, id, name})
	}
	return all, nil
}

// tree makes the tree that another one, or a commit's, becomes with some of its files otherwise: missing ones are
// removed. of "" is one without files. A directory gives way to a file of its name, and a file to a directory.
func (o *objects) tree(ctx context.Context, of string, changed []entry) (id string, err error) {
	if id, err = o.subtree(ctx, of, "", changed); id == "" && err == nil {
		return o.put("tree", nil)
	}
	return id, err
}

// subtree is tree for a directory, "" or with a slash at the end. The id is empty when nothing is left in it.
func (o *objects) subtree(ctx context.Context, of, dir string, changed []entry) (id string, err error) {
	has, below := map[string]entry{}, map[string][]entry{}
	if of != "" {
		if has, err = o.directory(ctx, of, dir); err != nil {
			return "", err
		}
		has = maps.Clone(has)
	}
	for _, e := range changed {
		at, _, deeper := strings.Cut(strings.TrimPrefix(e.name, dir), "/")
		switch {
		case deeper:
			below[dir+at] = append(below[dir+at], e)
		case e.mode == missing:
			delete(has, e.name)
		default:
			has[e.name] = e
		}
	}
	for name, some := range below {
		within := ""
		if has[name].mode == directory {
			within = of
		}
		made, err := o.subtree(ctx, within, name+"/", some)
		switch {
		case err != nil:
			return "", err
		case made != "":
			has[name] = entry{directory, made, name}
		case within != "":
			delete(has, name)
		}
	}
	if len(has) == 0 {
		return "", nil
	}
	return o.put("tree", treeText(dir, has))
}

// treeText is a tree as git stores it: a directory is sorted as if its name ended with a slash.
func treeText(dir string, has map[string]entry) (text []byte) {
	sorted := func(e entry) string {
		if e.mode == directory {
			return e.name + "/"
		}
		return e.name
	}
	all := slices.SortedFunc(maps.Values(has), func(a, b entry) int { return strings.Compare(sorted(a), sorted(b)) })
	for _, e := range all {
		id, _ := hex.DecodeString(e.id) // git's or ours
		text = fmt.Appendf(text, "%s %s\x00%s", strings.TrimPrefix(e.mode, "0"), strings.TrimPrefix(e.name, dir), id)
	}
	return text
}

// newCommit is a commit to be made. The zero time is now.
type newCommit struct {
	tree    string
	parents []string
	message string
	at      time.Time
}

func (c newCommit) text(by people) []byte {
	if c.at.IsZero() {
		c.at = time.Now()
	}
	text := "tree " + c.tree + "\n"
	for _, parent := range c.parents {
		text += "parent " + parent + "\n"
	}
	return fmt.Appendf(nil, "%sauthor %s %s\ncommitter %s %[3]s\n\n%[5]s\n", text, by.writer,
		fmt.Sprint(c.at.Unix(), c.at.Format(" -0700")), by.by, strings.TrimSpace(c.message))
}

// only makes a commit of these files and no others, on no branch and so without a signature.
func (o *objects) only(ctx context.Context, contents map[string][]byte, c newCommit) (id string, err error) {
	all, err := o.files(contents)
	if err != nil {
		return "", err
	}
	if c.tree, err = o.tree(ctx, "", all); err != nil {
		return "", err
	}
	return o.put("commit", c.text(o.people))
}

// commitOn makes a commit on top of another with some of its files otherwise, and none when they are so already.
func (o *objects) commitOn(ctx context.Context, parent, parentTree string, changed []entry, message string) (commit,
	tree string, err error) {
	if tree, err = o.tree(ctx, parent, changed); err != nil || tree == parentTree {
		return parent, tree, err
	}
	commit, err = o.commit(ctx, newCommit{tree: tree, parents: []string{parent}, message: message})
	return commit, tree, err
}

// commit makes a commit of the harness's own on a branch, signed when there is a key.
func (o *objects) commit(ctx context.Context, c newCommit) (id string, err error) {
	if !o.gpg {
		return o.putCommit(c.text(o.people))
	}
	args, env := []string{"commit-tree", c.tree, "-S", "-F", "-"}, []string(nil)
	for _, parent := range c.parents {
		args = append(args, "-p", parent)
	}
	if !c.at.IsZero() {
		when := fmt.Sprintf("%d +0000", c.at.Unix())
		env = []string{"GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when}
	}
	id, _, err = o.git.run(ctx, call{in: strings.NewReader(c.message), args: args, env: env})
	return strings.TrimSpace(id), o.unsigned(err)
}

// File reads a file as a commit has it; ok is false when it has none. Only regular files are read: a link is refused.
func (o *objects) File(ctx context.Context, commit, path string) (content []byte, ok bool, err error) {
	if e, there, err := o.entry(ctx, commit, path); err == nil && there && !e.regular() {
		return nil, false, fmt.Errorf("%s is not a regular file in commit %.12s: make it one", path, commit)
	}
	return o.Read(ctx, commit, path, math.MaxInt)
}

// Read reads at most so many bytes of the beginning of a file as a commit has it; ok is false when it has none, or
// something that is not a regular file: a link, a directory, a submodule.
func (o *objects) Read(ctx context.Context, commit, path string, most int) (content []byte, ok bool, err error) {
	e, ok, err := o.entry(ctx, commit, path)
	if err != nil || !ok || !e.regular() {
		return nil, false, err
	}
	content, err = o.blob(ctx, e, most)
	return content, true, err
}

func (e entry) regular() bool { return e.mode == regularFile || e.mode == "100755" }

// entry is what a commit has at a path.
func (o *objects) entry(ctx context.Context, commit, name string) (e entry, ok bool, err error) {
	dir, _ := path.Split(name)
	all, err := o.directory(ctx, commit, dir)
	e, ok = all[name]
	return e, ok, err
}

// directory is what a commit has in a directory, "" or with a slash at the end, by the path from the top.
func (o *objects) directory(ctx context.Context, commit, dir string) (map[string]entry, error) {
	lasts := func(map[string]entry) bool { return isID(commit) }
	return o.known.directories.once(commit+":"+dir, lasts, func() (map[string]entry, error) {
		args := []string{"ls-tree", "-z", "--full-tree", commit}
		if dir != "" {
			args = append(args, "--", ":(literal)"+dir)
		}
		out, err := o.git.out(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("listing %s in commit %.12s: %w", cmp.Or(dir, "files"), commit, err)
		}
		return entriesOf(out), nil
	})
}

// blob is the start of a file.
func (o *objects) blob(ctx context.Context, e entry, most int) ([]byte, error) {
	small := func(text string) bool { return len(text) <= mostKept }
	text, err := o.known.blobs.once(fmt.Sprintf("%s %d", e.id, most), small, func() (string, error) {
		kept := bounded{most: most}
		if _, _, err := o.git.run(ctx, call{out: &kept, args: []string{"cat-file", "blob", e.id}}); err != nil {
			return "", fmt.Errorf("reading %s: %w", e.name, err)
		}
		return kept.kept.String(), nil
	})
	return []byte(text), err
}

// known are directories and files that were read. A commit never changes, so each question is asked once.
type known struct {
	directories answers[map[string]entry]
	blobs       answers[string]
	diffs       answers[string]
	changed     answers[[]string] // by the newest commits
}

// answers are kept by their questions. The zero value is empty. When it is full it starts empty again.
type answers[T any] struct {
	mu   sync.Mutex
	kept map[string]T
}

// Bounds of what is kept: so many answers, and files of at most so many bytes.
const (
	mostAnswers = 256
	mostKept    = 16 << 10
)

func (a *answers[T]) once(question string, lasts func(T) bool, ask func() (T, error)) (T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer, ok := a.kept[question]; ok {
		return answer, nil
	}
	answer, err := ask()
	if err == nil && lasts(answer) {
		a.put(question, answer)
	}
	return answer, err
}

// keep keeps an answer that is known without a question.
func (a *answers[T]) keep(question string, answer T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(question, answer)
}

func (a *answers[T]) put(question string, answer T) {
	if a.kept == nil || len(a.kept) >= mostAnswers {
		a.kept = map[string]T{}
	}
	a.kept[question] = answer
}

// allFiles reads all regular files of a commit.
func (o *objects) allFiles(ctx context.Context, commit string) (map[string][]byte, error) {
	out, err := o.git.out(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	all, ids, read := entriesOf(out), "", map[string][]byte{}
	maps.DeleteFunc(all, func(_ string, e entry) bool { return !e.regular() })
	for _, e := range all {
		ids += e.id + "\n"
	}
	err = o.eachObject(ctx, ids, func(id, _ string, content []byte) error {
		read[id] = content
		return nil
	})
	found := map[string][]byte{}
	for name, e := range all {
		content, ok := read[e.id]
		if !ok {
			return nil, cmp.Or(err, fmt.Errorf("%s is missing in commit %.12s", name, commit))
		}
		found[name] = content
	}
	return found, err
}

// eachObject reads what git stores, one after another.
func (o *objects) eachObject(ctx context.Context, ids string, read func(id, kind string, content []byte) error) error {
	return o.streamObjects(ctx, ids, func(id, kind string, from io.Reader) error {
		content, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		return read(id, kind, content)
	})
}

// streamObjects lets read read what git stores, one after another, each to its end.
func (o *objects) streamObjects(ctx context.Context, ids string,
	read func(id, kind string, content io.Reader) error) error {
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, _, err := o.git.run(ctx, call{args: []string{"cat-file", "--batch"}, in: strings.NewReader(ids), out: in})
		in.CloseWithError(cmp.Or(err, io.EOF))
		done <- err
	}()
	from := bufio.NewReaderSize(out, 64<<10)
	var failed error
	for failed == nil {
		line, err := from.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		f := strings.Fields(line)
		if failed = err; failed == nil && len(f) == 3 {
			failed = streamObject(from, f, read)
		} else if failed == nil && !strings.HasSuffix(line, " missing\n") { // a submodule's commit is not here
			failed = fmt.Errorf("git answered %q", line)
		}
	}
	_ = out.CloseWithError(failed)
	if err := <-done; failed == nil {
		failed = err
	}
	if failed != nil {
		return fmt.Errorf("reading objects: %w", failed)
	}
	return nil
}

func streamObject(from *bufio.Reader, head []string, read func(id, kind string, content io.Reader) error) error {
	size, err := strconv.ParseInt(head[2], 10, 64)
	if err != nil {
		return err
	}
	content := &io.LimitedReader{R: from, N: size}
	if err := read(head[0], head[1], content); err != nil {
		return err
	}
	if content.N > 0 { // it ended before
		return io.ErrUnexpectedEOF
	}
	_, err = from.Discard(1) // the line's end
	return err
}

// TreeOf is the tree of a commit, a full hash.
func (o *objects) TreeOf(ctx context.Context, commit string) (string, error) {
	out, err := o.git.out(ctx, "rev-parse", "--verify", "-q", commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("finding the tree of commit %.12s: %w", commit, err)
	}
	return strings.TrimSpace(out), nil
}

// entriesOf reads what ls-tree -z has printed.
func entriesOf(out string) map[string]entry {
	all := map[string]entry{}
	for _, record := range records(out) {
		about, name, _ := strings.Cut(record, "\t")
		if f := strings.Fields(about); len(f) == 3 {
			all[name] = entry{f[0], f[2], name}
		}
	}
	return all
}

// Overlay is what differs in a commit that is made on top of another.
type Overlay struct {
	From     string            // the commit that Names are taken from
	Names    []string          // files that are as From has them; those that it has not are taken out
	Contents map[string][]byte // files that hold something else; they keep the commit's mode
}

// Overlaid makes a commit on top of another in which some files are different. No branch points at it, and no working
// tree sees it.
func (o *objects) Overlaid(ctx context.Context, commit string, over Overlay) (string, error) {
	changed, err := o.overlay(ctx, commit, over)
	made := newCommit{parents: []string{commit}, message: "ralph: the base's tests"}
	if err == nil {
		made.tree, err = o.tree(ctx, commit, changed)
	}
	if err != nil {
		return "", fmt.Errorf("laying files of commit %.12s over %.12s: %w", over.From, commit, err)
	}
	return o.put("commit", made.text(o.people))
}

// overlay are the entries that the commit gets.
func (o *objects) overlay(ctx context.Context, commit string, over Overlay) (changed []entry, err error) {
	for _, name := range over.Names {
		e, ok, err := o.entry(ctx, over.From, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			e = entry{mode: missing, name: name}
		}
		changed = append(changed, e)
	}
	all, err := o.files(over.Contents)
	if err != nil {
		return nil, err
	}
	for _, file := range all {
		is, ok, err := o.entry(ctx, commit, file.name)
		if err != nil {
			return nil, err
		}
		if ok {
			file.mode = is.mode
			changed = append(changed, file)
		}
	}
	return changed, nil
}

// unsigned makes the error of a git that could not sign a commit one that says so.
func (o *objects) unsigned(err error) error {
	var e *commandError
	if !o.gpg || !errors.As(err, &e) || !slices.ContainsFunc(signingFailed,
		func(said string) bool { return strings.Contains(e.Stderr, said) }) {
		return err
	}
	return &SigningError{strings.TrimRight(lastLine(e.Stderr), "?.:")}
}

// putCommit stores a commit, with a signature where there is a key.
func (o *objects) putCommit(text []byte) (id string, err error) {
	if o.sign != nil {
		if text, err = o.sign.signed(text, 2*o.hash().Size()); err != nil {
			return "", err
		}
	}
	return o.put("commit", text)
}

// signingFailed is what git says, in one way or another, when it could not sign: its own words, since each program that
// signs has others.
var signingFailed = []string{"failed to sign", "load public key", "user.signingkey", "defaultKeyCommand", "cannot run "}

// signAbove makes the commits from one to a tip again that git has made for us without a signature. No ref moves.
func (o *objects) signAbove(ctx context.Context, from, tip string) (signed string, err error) {
	out, err := o.git.out(ctx, "rev-list", "--topo-order", "--reverse", tip, "^"+from)
	if err != nil {
		return "", fmt.Errorf("signing the commits: %w", err)
	}
	now := map[string]string{}
	err = o.eachObject(ctx, out, func(id, _ string, commit []byte) (err error) {
		signed, err = o.putCommit(onto(commit, now))
		now[id] = signed
		return err
	})
	return cmp.Or(signed, from), err
}

// onto is a commit whose parents are what they have become.
func onto(commit []byte, now map[string]string) []byte {
	head, message, _ := bytes.Cut(commit, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	for i, line := range lines {
		if id, ok := strings.CutPrefix(line, "parent "); ok && now[id] != "" {
			lines[i] = "parent " + now[id]
		}
	}
	return fmt.Appendf(nil, "%s\n\n%s", strings.Join(lines, "\n"), message)
}
