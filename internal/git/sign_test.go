package git

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

// sshKey is a new private key in the form that ssh-keygen gives it.
func sshKey(t testing.TB, kind string) string {
	t.Helper()
	var key any
	var err error
	switch kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	noError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "ralph")
	noError(t, err)
	return string(pem.EncodeToMemory(block))
}

// signing makes the tree sign with a new key, and verify a script that fails unless git itself finds that key's
// signature on each of some commits.
func (b *sandbox) signing(kind string) (sign func(*Options), verify func(commits ...string)) {
	b.t.Helper()
	need.Program(b.t, "ssh-keygen") // without it git verifies no signature
	signer := must[*Signer](b.t)(NewSigner(sshKey(b.t, kind)))
	allowed := filepath.Join(b.dir, "allowed")
	if err := os.WriteFile(allowed, []byte("ralph@example.com namespaces=\"git\" "+authorizedKey(signer)+"\n"),
		0o644); err != nil {
		b.t.Fatal(err)
	}
	verify = func(commits ...string) {
		b.t.Helper()
		for _, commit := range commits {
			b.sh(filepath.Join(b.dir, "root", "repo.git"),
				`git -c gpg.ssh.allowedSignersFile='`+allowed+`' verify-commit `+commit+`; git fsck --no-dangling `+commit)
		}
	}
	return func(o *Options) { o.Sign = signer }, verify
}

func TestEveryCommitOfOursIsSigned(t *testing.T) {
	b := newSandbox(t)
	sign, verify := b.signing("ed25519")
	tree := b.checkout(sign)
	message := "ralph: one (iteration 1)\n\nRalph-Task: issue-42\n"
	b.sh(tree.Dir(), `echo 1 >one; echo 1 >other`)
	one := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, message))
	verify(one.SHA)
	if got := b.sh(tree.dir, `git log -1 --format='%an <%ae> %cn <%ce> %P%n%B' `+
		one.SHA); got != "ralph <ralph@example.com> ralph <ralph@example.com> "+b.base+"\n"+message+"\n" {
		t.Errorf("%q", got)
	}

	// The agent's own commit stays as it is, below ours.
	b.sh(tree.Dir(), `echo 2 >two; git add two; git commit -qm agent; echo 3 >three`)
	two := must[loop.Commit](t)(tree.Commit(b.ctx, one.SHA, "two"))
	verify(two.SHA)
	if got := b.sh(tree.dir, `git log -2 --format='%s %P' `+two.SHA+`; git cat-file commit `+two.SHA+
		`^ | grep -c gpgsig || true`); !strings.HasSuffix(got, "agent "+one.SHA+"\n0\n") {
		t.Errorf("%s", got)
	}

	// What the harness corrects, and what it makes again without a secret.
	three := must[loop.Commit](t)(tree.Correct(b.ctx,
		Correction{Since: b.base, Write: map[string][]byte{"plan": []byte("ours\n")}, Message: "corrected"}))
	tree.leaks.values, tree.leaks.known = []string{"hunter2hunter2"}, nil
	b.sh(tree.Dir(), `echo hunter2hunter2 >leak; echo 4 >four`)
	four := must[loop.Commit](t)(tree.Commit(b.ctx, three.SHA, "four"))
	verify(three.SHA, four.SHA)
	if len(four.Files) != 1 || four.Files[0].Path != "four" {
		t.Errorf("%+v", four)
	}
	b.agreeBot(tree)

	// A failure branch, and a branch that has moved meanwhile.
	must[string](t)(tree.FailureBranch(b.ctx, tree.Head(), "wip/ralph-fail-issue-42-20261121-053000", "failed\n",
		map[string][]byte{".ralph_state.md": []byte("---\n")}))
	failed := strings.TrimSpace(b.sh(b.remote, `git rev-parse wip/ralph-fail-issue-42-20261121-053000`))
	verify(failed)
	if got := b.sh(b.remote, `git rev-parse wip/ralph-fail-issue-42-20261121-053000 `+failed+`^`); got != failed+"\n"+
		four.SHA+"\n" {
		t.Errorf("%s", got)
	}
	b.sh(b.dir,
		`cd seed; git checkout -q -b w; echo theirs >theirs; git add .; git commit -qm theirs; git push -q ../remote.git w:ralph/issue-42`)
	moved := must[*Moved](t)(tree.Push(b.ctx))
	if moved == nil || moved.Commit.SHA != tree.Head() {
		t.Fatalf("%+v", moved)
	}
	again := strings.Fields(b.sh(b.remote, `git rev-list --reverse `+moved.Onto+`..ralph/issue-42`))
	if len(again) != 5 || again[4] != tree.Head() { // one, the agent's, two, corrected, four
		t.Fatal(again, tree.Head())
	}
	verify(again...)
	b.agreeBot(tree)
}

// A key that is in a diff stands there a line at a time.
func TestTheKeyIsNotCommitted(t *testing.T) {
	b := newSandbox(t)
	key := sshKey(t, "ed25519")
	tree := b.checkout(func(o *Options) { o.Secrets = []string{key} })
	for name, text := range map[string]string{"key": key, "indented": strings.ReplaceAll(key, "\n", "\n  "),
		"other": sshKey(t, "ed25519")} {
		noError(t, os.WriteFile(filepath.Join(tree.Dir(), name), []byte(text), 0o644))
	}
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "keys"))
	if len(c.Files) != 1 || c.Files[0].Path != "other" ||
		!strings.Contains(c.Note, "indented:3 as it is, key:3 as it is: holds a secret") ||
		!strings.Contains(c.Note, "other:1 looks like a private key") {
		t.Errorf("%+v", c)
	}
}

// agreeBot fails the test unless our index, the working tree and the run's branch are one.
func (b *sandbox) agreeBot(tree *Tree) {
	b.t.Helper()
	if got := must[string](b.t)(tree.git.out(b.ctx, "rev-parse", tree.ref(), "HEAD")); got != tree.Head()+"\n"+tree.Head()+
		"\n" {
		b.t.Errorf("the branch and HEAD are at %s, not at %s", got, tree.Head())
	}
	if got := must[string](b.t)(tree.git.out(b.ctx, "status", "--porcelain", "-uno")); strings.TrimSpace(got) != "" {
		b.t.Errorf("the tree is not what is committed:\n%s", got)
	}
}

func TestKindsOfSigningKeys(t *testing.T) {
	for _, kind := range []string{"rsa", "ecdsa"} { // the others sign with ed25519
		if kind == "ecdsa" && !every {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			b := newSandbox(t)
			sign, verify := b.signing(kind)
			tree := b.checkout(sign)
			b.sh(tree.Dir(), `echo 1 >one`)
			verify(must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one")).SHA)
		})
	}
}

func TestUnusableSigningKeys(t *testing.T) {
	good := sshKey(t, "ed25519")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	noError(t, err)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("secret"))
	noError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	noError(t, err)
	signer := must[*Signer](t)(NewSigner(good))
	for name, c := range map[string]struct{ key, want string }{
		"a passphrase":     {string(pem.EncodeToMemory(locked)), "passphrase"},
		"a public key":     {authorizedKey(signer), "no SSH private key"},
		"a public PEM":     {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})), "no SSH private key"},
		"its own words":    {"hunter2hunter2", "no SSH private key"},
		"the half of one":  {good[:len(good)/2], "no SSH private key"},
		"spoilt in itself": {strings.Replace(good, "b3BlbnNzaC1", "b3BlbnNzaD1", 1), "no SSH private key"},
	} {
		_, err := NewSigner(c.key)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || c.key != "" &&
			strings.Contains(err.Error(), c.key[:min(len(c.key), 8)]) && c.key[:1] != "-" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none, err := NewSigner(""); none != nil || err != nil {
		t.Errorf("no key: %v, %v", none, err)
	}
	for name, form := range map[string]string{"without a last line end": strings.TrimSpace(good),
		"of Windows": strings.ReplaceAll(good, "\n", "\r\n"),
		"PKCS1": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
			Bytes: x509.MarshalPKCS1PrivateKey(key)}))} {
		if _, err := NewSigner(form); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// authorizedKey is the public key as a line of a list of signing keys.
func authorizedKey(s *Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.key.PublicKey())))
}
