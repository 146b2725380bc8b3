package git

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/secret"
)

// held is a secret of the harness's, and sample something that looks like one of somebody's. Neither stands here as it
// is.
var held, sample = "sk-ant" + "-api03-Zq8Lm2Xw9Rt4Vb7Np1Kc6Hd3Yf5Gs0Ja", "AK" + "IA" + "Q3ZLV7XWN2RTB5KC"

// TestCommitsHoldNoSecret: in whatever way an agent brings a secret into a commit, it is not in it, the note tells
// where it was, and the rest of the work is there.
func TestCommitsHoldNoSecret(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout(func(o *Options) { o.Secrets = []string{held} })
	for i, row := range []struct{ what, deed, note string }{
		{"as it is", "printf 'a\\nb " + held + "\\n' >conf", "conf:2 as it is: holds a secret"},
		{"base64", "echo x" + held + " | base64 -w 0 >conf", "conf:1 in base64: holds"},
		{"base64 in lines", "echo xy" + held + held + " | base64 >conf", "conf:1 in base64: holds"},
		{"hex", "echo " + hex.EncodeToString([]byte(held)) + " >conf", "conf:1 in hexadecimal digits: holds"},
		{"its name", "touch " + held, "a file's name, as it is: holds"},
		{"its name, encoded", "touch " + base64.RawURLEncoding.EncodeToString([]byte(held)),
			"a file's name, in base64: holds"},
		{"a directory", "mkdir " + hex.EncodeToString([]byte(held)) + "; touch " + hex.EncodeToString([]byte(held)) + "/x",
			"a file's name, in hexadecimal digits: holds"},
		{"a message", "git commit -q --allow-empty -m 'key " + hex.EncodeToString([]byte(held)) + "'",
			"only its files were kept"},
		{"gone again", "echo " + held + " >conf; git add conf; git commit -qm one; rm conf",
			"only its files were kept"},
		{"its own commit", "echo " + held + " >conf; git add conf; git commit -qm one", "conf:1 as it is: holds"},
		{"in an old file", "echo " + held + " >>a.txt", "a.txt:4 as it is: holds"},
	} {
		if !every && i%3 != 2 {
			continue
		}
		since := tree.Head()
		b.sh(tree.Dir(), row.deed+"; date +%N >>work")
		c := must[loop.Commit](t)(tree.Commit(b.ctx, since, "the turn"))
		if !strings.Contains(c.Note, row.note) || strings.Contains(c.Note, held) {
			t.Errorf("%s: the note is %q", row.what, c.Note)
		}
		if len(c.Files) != 1 || c.Files[0].Path != "work" {
			t.Errorf("%s: committed are %+v", row.what, c.Files)
		}
		b.nowhere(tree, row.what, secret.NewRedactor([]string{held}))
		b.agreeBot(tree)
	}
}

// nowhere fails the test when anything that the run's branch has and the base has not tells a secret.
func (b *sandbox) nowhere(tree *Tree, what string, known *secret.Redactor) {
	b.t.Helper()
	ids := must[string](b.t)(tree.git.out(b.ctx, "rev-list", "--objects", "--no-object-names", "HEAD", "^"+b.base))
	err := tree.eachObject(b.ctx, ids, func(_, kind string, content []byte) error {
		if s, ok := known.First(string(content)); ok {
			b.t.Errorf("%s: a %s holds it, %s", what, kind, s.As)
		}
		if strings.Contains(string(content), sample) {
			b.t.Errorf("%s: a %s holds the sample", what, kind)
		}
		return nil
	})
	noError(b.t, err)
}

// TestCredentialsAreTakenOut: what looks like a credential and is new is not in a commit, until somebody accepts it;
// the rest of its file is.
func TestCredentialsAreTakenOut(t *testing.T) {
	b := newSandbox(t)
	b.sh(filepath.Join(b.dir, "seed"), `echo "old = `+strings.Replace(sample, "Q3", "R4", 1)+`" >old.cfg
git add .; git commit -qm more; git push -q ../remote.git HEAD:main; git rev-parse HEAD >../base`)
	base, err := os.ReadFile(filepath.Join(b.dir, "base"))
	noError(t, err)
	b.base = strings.TrimSpace(string(base))
	tree := b.checkout(func(*Options) {})
	mark := secret.MarkOf(sample, secret.Credentials(sample)[0])
	b.sh(tree.Dir(), `printf 'one\nkey = "`+sample+`"\ntwo\n' >new.cfg
chmod +x new.cfg; cp old.cfg moved.cfg`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "with a sample"))
	if got := b.show(tree, "new.cfg"); got != "one\nkey = \""+mark.String()+"\"\ntwo\n" {
		t.Errorf("new.cfg is %q", got)
	}
	if got := b.show(tree, "moved.cfg"); !strings.Contains(got, "IAR4") {
		t.Errorf("what the base has was taken out: %q", got)
	}
	if !strings.Contains(c.Note, "new.cfg:2 looks like an access key of AWS: taken out of the commit") {
		t.Errorf("the note is %q", c.Note)
	}
	b.nowhere(tree, "a sample", secret.NewRedactor(nil))
	b.agreeBot(tree)

	// One that was committed and taken out again by the agent itself.
	since := tree.Head()
	b.sh(tree.Dir(), `echo "`+sample+`" >gone; git add gone; git commit -qm one; rm gone; echo more >more`)
	c = must[loop.Commit](t)(tree.Commit(b.ctx, since, "again"))
	if !strings.Contains(c.Note, "only its files were kept") || len(c.Files) != 1 || c.Files[0].Path != "more" {
		t.Errorf("%+v", c)
	}
	b.nowhere(tree, "gone again", secret.NewRedactor(nil))

	// Accepted, in this file alone.
	tree.AcceptCredentials(func(path string, m secret.Mark) bool { return path == "new.cfg" && m == mark })
	b.sh(tree.Dir(), `echo "key = `+sample+`" | tee other.cfg >new.cfg`)
	c = must[loop.Commit](t)(tree.Commit(b.ctx, tree.Head(), "accepted"))
	if got := b.show(tree, "new.cfg") + b.show(tree, "other.cfg"); got != "key = "+sample+"\nkey = "+mark.String()+"\n" {
		t.Errorf("%q %s", got, c.Note)
	}
}

func (b *sandbox) show(tree *Tree, name string) string {
	b.t.Helper()
	return must[string](b.t)(tree.git.out(b.ctx, "show", "HEAD:"+name))
}

// TestNamesHoldNoSecret: a branch or a task whose name holds a secret is refused before anything has that name.
func TestNamesHoldNoSecret(t *testing.T) {
	b := newSandbox(t)
	b.clone()
	for _, row := range []struct {
		task, branch string
		ok           bool
	}{
		{"issue-42", "ralph/issue-42", true},
		{"issue-42", "ralph/" + held, false},
		{"issue-42", "ralph/" + strings.ToLower(held), false},
		{strings.ToLower(held[:30]), "ralph/issue-42", false},
	} {
		o := b.options()
		o.Task, o.Secrets = row.task, []string{held}
		_, err := Checkout(b.ctx, o, "", row.branch)
		if (err == nil) != row.ok || err != nil && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(held)) {
			t.Errorf("%s: %v", row.branch, err)
		}
		c := b.cliOptions()
		c.Task, c.Secrets = row.task, []string{held}
		if _, err := CheckoutOf(b.ctx, filepath.Join(b.dir, "clone"), c, "", row.branch); (err == nil) != row.ok {
			t.Errorf("%s of a clone: %v", row.branch, err)
		}
	}
}

// TestMessages: neither the title of an issue nor an agent does anything on GitHub by a commit's message, keeps workflows
// from running or hides anything in it. The agent's work is kept.
func TestMessages(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout(func(o *Options) { o.Secrets = []string{held} })
	for i, row := range []struct{ own, title, subject string }{
		{"", "Fix it [skip ci]", "Fix it (skip ci)"},
		{"", "Fix \x1b]52;c;eA==\x07it\u202e " + held, "Fix ]52;c;eA==it [redacted]"},
		{"theirs", "Fix it", "Fix it\ntheirs"},
		{"fix the 2 of #3\n\nCo-authored-by: A <a@b.c>", "Fix it", "Fix it\nfix the 2 of #3"},
		{"thanks, @alice", "Fix it", "Fix it"},
		{"cc @org/team", "Fix it", "Fix it"},
		{"Fixes #7", "Fix it", "Fix it"},
		{"x\n\ncloses: other/repo#7", "Fix it", "Fix it"},
		{"resolved https://github.com/other/repo/issues/7", "Fix it", "Fix it"},
		{"fix GH-7", "Fix it", "Fix it"},
		{"x\n\nRalph-Run: 20260101-000000-0000000", "Fix it", "Fix it"},
		{"theirs [no ci]", "Fix it", "Fix it"},
		{"theirs\n\n\nskip-checks: true", "Fix it", "Fix it"},
		{"\x1b[31mtheirs", "Fix it", "Fix it"},
	} {
		since := tree.Head()
		deed := fmt.Sprintf("echo %d >>a.txt", i)
		if row.own != "" {
			deed = fmt.Sprintf("echo %d >>own; git add own; printf '%%s' '%s' | git commit -q -F -; %s", i, row.own, deed)
		}
		b.sh(tree.Dir(), deed)
		c := must[loop.Commit](t)(tree.Commit(b.ctx, since, row.title+"\n"))
		if dropped := row.own != "" && !strings.Contains(row.subject, "\n"); strings.Contains(c.Note, "its files were kept") != dropped {
			t.Errorf("%q: %q", row.own, c.Note)
		}
		if got := must[string](t)(tree.git.out(b.ctx, "log", "--format=%s", since+"..HEAD")); got != row.subject+"\n" {
			t.Errorf("%q, %q: committed as %q", row.own, row.title, got)
		}
		b.agreeBot(tree)
	}
}
