package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/secret"
)

// What is committed is pushed, so a commit is searched before anything relies on it. What changed is read as git
// shows it, which is cheap; where that reports a secret, or of something compressed, each new file, message and name
// is read as it is.

// search reads what changed: for values that are known, and among the lines that were added for what looks like a
// credential.
type search struct {
	known *secret.Finder
	line  []byte       // the beginning of a line that is not whole yet
	added bytes.Buffer // lines that were added, without their sign
	looks bool
}

func (r *leakRules) search() *search { return &search{known: r.redactor().Finder()} }

// mostAdded is how much of what was added is searched at once, mostLine how much of one line.
const (
	mostAdded = 1 << 20
	mostLine  = 64 << 10
)

// Write implements io.Writer.
func (s *search) Write(p []byte) (int, error) {
	_, _ = s.known.Write(p)
	for rest := p; len(rest) > 0 && !s.looks; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, line[:min(len(line), max(0, mostLine-len(s.line)))]...)
		if rest = after; !whole {
			break
		}
		if len(s.line) > 0 && s.line[0] == '+' {
			s.added.Write(s.line[1:])
			s.added.WriteByte('\n')
		}
		s.line = s.line[:0]
		if s.added.Len() > mostAdded {
			s.look()
		}
	}
	return len(p), nil
}

func (s *search) look() {
	s.looks = s.looks || len(secret.Credentials(s.added.String())) > 0
	s.added.Reset()
}

// suspects reports whether the new files have to be read as they are.
func (s *search) suspects() bool {
	s.look()
	return s.looks || s.known.Found()
}

// seekThrough lets a search read the commits from since to HEAD, messages too.
func (o *objects) seekThrough(ctx context.Context, since string, seek *search) error {
	_, _, err := o.git.run(ctx, call{out: seek, args: []string{
		"log", "-p", "-m", "--text", "-U0", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color",
		since + "..HEAD", "--"}})
	if err != nil {
		return fmt.Errorf("looking for secrets in the new commits: %w", err)
	}
	return nil
}

// mostPlaces is how many places of credentials a note lists.
const mostPlaces = 20

// leaks are what no commit may hold, in the commits above another.
type leaks struct {
	files  map[string]string // files of the newest commit that hold a secret, with the place and how it is written
	marked map[string][]byte // files with something that looks like a credential, without that
	places []string          // where it was, and what it looked like; at most mostPlaces
	// how many there were
	credentials int
	before      bool // a message, or a commit below, tells a secret
}

func (l *leaks) any() bool { return l.before || len(l.files) > 0 || len(l.marked) > 0 }

// notes reports them in sentences.
func (l *leaks) notes() (notes []string) {
	if held := safetext.Map(slices.Sorted(maps.Keys(l.files)), func(name string) string { return l.files[name] }); len(held) > 0 {
		notes = []string{strings.Join(held, ", ") + ": holds a secret of ralph's and was left out; write the name of the " +
			"variable there, not its value"}
	}
	if places := l.places; len(places) > 0 {
		if more := l.credentials - len(places); more > 0 {
			places = append(slices.Clip(places), fmt.Sprintf("and %d more", more))
		}
		notes = append(notes, strings.Join(places, ", ")+": taken out of the commit; replace it with a placeholder, or if it is a sample, accept it by its name")
	}
	if l.before {
		notes = append(notes, "a commit of the agent's held a secret of ralph's, or something that looked like a "+
			"credential; only its files were kept")
	}
	return notes
}

// leaksIn reads the commits from since to a tip as they are: every new file, name and message.
func (r *leakRules) leaksIn(ctx context.Context, of *objects, since, tip string) (*leaks, error) {
	found := &leaks{files: map[string]string{}, marked: map[string][]byte{}}
	names, ids, err := r.newObjects(ctx, of, since, tip, found)
	if err != nil {
		return nil, err
	}
	var suspect []string // objects with something that looks like a credential
	looks := &candidates{}
	err = of.eachObject(ctx, ids, func(id, kind string, content []byte) error {
		o := object{kind, string(content), names[id]}
		if !r.knownIn(found, o) && looks.add(o) {
			suspect = append(suspect, id)
		}
		return nil
	})
	if err != nil || len(suspect) == 0 {
		return found, err
	}
	if err := looks.without(ctx, of, since); err != nil {
		return nil, err
	}
	err = of.eachObject(ctx, strings.Join(suspect, "\n")+"\n", func(id, kind string, content []byte) error {
		r.looksIn(found, looks, object{kind, string(content), names[id]})
		return nil
	})
	return found, err
}

// newObjects lists what the commits from since to a tip have that is new, and by which names the tip has it. Names that
// tell a secret are noted.
func (r *leakRules) newObjects(ctx context.Context, of *objects, since, tip string,
	found *leaks) (names map[string][]string, ids string, err error) {
	changed, err := of.changes(ctx, "diff-tree", "-r", since, tip)
	if err != nil {
		return nil, "", err
	}
	names = map[string][]string{}
	for _, ch := range changed {
		if ch.is.mode == missing {
			continue
		}
		names[ch.is.id] = append(names[ch.is.id], ch.is.name)
		if s, ok := r.redactor().First(ch.is.name); ok {
			found.files[ch.is.name] = "a file's name, " + s.As
		}
	}
	listed, err := of.git.out(ctx, "rev-list", "--objects", "--no-object-names", tip, "^"+since)
	if err != nil {
		return nil, "", fmt.Errorf("listing what is new: %w", err)
	}
	// what is new in the tree may be older than the commits: from another branch, or brought back
	all := slices.Sorted(maps.Keys(names))
	all = append(all, strings.Fields(listed)...)
	slices.Sort(all)
	return names, strings.Join(slices.Compact(all), "\n") + "\n", nil
}

// object is something that git stores, with the names that the newest commit has it by.
type object struct {
	kind, content string
	names         []string
}

// knownIn notes an object that tells a secret of the harness's.
func (r *leakRules) knownIn(found *leaks, o object) bool {
	s, leaks := r.redactor().First(o.content)
	if !leaks {
		return false
	}
	found.before = found.before || len(o.names) == 0
	for _, name := range o.names {
		found.files[name] = fmt.Sprintf("%s:%d %s", name, lineAt(o.content, s.From), s.As)
	}
	return true
}

// looksIn notes the texts of an object that look like a credential and did not exist before.
func (r *leakRules) looksIn(found *leaks, looks *candidates, o object) {
	fresh := looks.fresh(o)
	found.before = found.before || len(fresh) > 0 && len(o.names) == 0
	for _, name := range o.names {
		r.markIn(found, name, o.content, fresh)
	}
}

// markIn notes the credentials of a file that no one has accepted.
func (r *leakRules) markIn(found *leaks, name, content string, fresh []secret.Credential) {
	fresh = slices.DeleteFunc(slices.Clone(fresh), func(c secret.Credential) bool {
		return r.accepted != nil && r.accepted(name, secret.MarkOf(content, c))
	})
	for _, c := range fresh[:min(len(fresh), max(0, mostPlaces-len(found.places)))] {
		found.places = append(found.places, fmt.Sprintf("%s:%d looks like %s", name, lineAt(content, c.From), c.What))
	}
	found.credentials += len(fresh)
	if len(fresh) > 0 {
		found.marked[name] = []byte(secret.TakeOut(content, fresh))
	}
}

// candidates are what looks like a credential in what is new. Texts that the commit below already has are not checked;
// that commit is read once, however many there are.
type candidates struct {
	lines  []string
	wanted *secret.Wanted
}

const (
	// mostLines is how many lines are searched for. Those of credentials beyond are taken to be new.
	mostLines = 1 << 18
	// mostOfLine is how much of one tells whether it is there, in bytes.
	mostOfLine = 4 << 10
)

// add takes what an object has, and reports whether there is anything. Binary files have nothing.
func (l *candidates) add(o object) bool {
	if o.kind != "blob" || strings.Contains(o.content[:min(len(o.content), 8000)], "\x00") {
		return false
	}
	looks := secret.Credentials(o.content)
	for _, c := range looks {
		for _, line := range linesOf(o.content[c.From:c.To]) {
			if len(l.lines) < mostLines {
				l.lines = append(l.lines, strings.Clone(line))
			}
		}
	}
	return len(looks) > 0
}

// linesOf are the lines in which a credential differs from others of its kind.
func linesOf(value string) (lines []string) {
	for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
		border := strings.HasPrefix(line, "-----") && strings.HasSuffix(line, "-----")
		if len(line) >= secret.LeastWanted && !border {
			lines = append(lines, line[:min(len(line), mostOfLine)])
		}
	}
	return lines
}

// without looks for them in the files of a commit.
func (l *candidates) without(ctx context.Context, of *objects, commit string) error {
	l.wanted = secret.Want(l.lines)
	l.lines = nil
	listed, err := of.git.out(ctx, "ls-tree", "-r", "--full-tree", "--format=%(objecttype) %(objectname)", commit)
	if err != nil {
		return fmt.Errorf("listing the files of commit %.12s: %w", commit, err)
	}
	seen := map[string]bool{}
	var ids strings.Builder
	for line := range strings.Lines(listed) {
		if id, ok := strings.CutPrefix(line, "blob "); ok && !seen[id] {
			seen[id] = true
			ids.WriteString(id)
		}
	}
	err = of.streamObjects(ctx, ids.String(), func(_, _ string, content io.Reader) error {
		if _, err := io.Copy(l.wanted, content); err != nil {
			return err
		}
		l.wanted.Break()
		if l.wanted.All() {
			return errAllFound
		}
		return nil
	})
	if errors.Is(err, errAllFound) {
		return nil
	}
	return err
}

var errAllFound = errors.New("all of it was found")

// fresh are the credentials of an object that have a line which did not exist before.
func (l *candidates) fresh(o object) (fresh []secret.Credential) {
	for _, c := range secret.Credentials(o.content) {
		lines := linesOf(o.content[c.From:c.To])
		is := len(lines) == 0
		for _, line := range lines {
			is = is || !l.wanted.Found(line)
		}
		if is {
			fresh = append(fresh, c)
		}
	}
	return fresh
}

// leakRules say what no commit may hold.
type leakRules struct {
	values   []string         // see Options.Secrets
	known    *secret.Redactor // made when they are first asked
	accepted func(path string, m secret.Mark) bool
}

// redactor knows the values that no commit may hold.
func (r *leakRules) redactor() *secret.Redactor {
	if r.known == nil {
		r.known = secret.NewRedactor(r.values)
	}
	return r.known
}

// refuseName fails when the name of the branch or of the task, which every ref of the run has, tells a secret, also in
// small letters: names are pushed before anyone looks at a commit.
func (r *leakRules) refuseName(names ...string) error {
	known := secret.NewRedactor(slices.Concat(r.values, safetext.Map(r.values, strings.ToLower)))
	for _, name := range names {
		if len(known.All(name)) > 0 {
			return errors.New("the name of the branch or of the task holds a secret of the environment that ralph runs in; " +
				"give the file, the task or the branch another name")
		}
	}
	return nil
}

// harmless is a message of ours without what no message may have.
func (r *leakRules) harmless(message string) string {
	message = safetext.WithoutSkips(safetext.Visible(message))
	for _, s := range slices.Backward(r.redactor().All(message)) {
		message = message[:s.From] + "[redacted]" + message[s.To:]
	}
	return message
}

// lineAt is the number of the line that a place of a text is in.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
