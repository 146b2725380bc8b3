package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Signer signs the commits that the harness makes, with an SSH key. The key is in our own memory alone: no file, no
// process and no environment ever holds it, which is why git does not sign here.
type Signer struct{ key ssh.Signer }

// NewSigner reads a private key as ssh-keygen writes it: ed25519, ecdsa or rsa, without a passphrase. No key, "", is no
// signer: nil. Its error says what is wrong with the key, as the end of a sentence that begins with the key's name, and
// quotes nothing of it.
func NewSigner(privateKey string) (*Signer, error) {
	if privateKey == "" {
		return nil, nil
	}
	key, err := ssh.ParsePrivateKey([]byte(privateKey))
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, errors.New("is a key with a passphrase, which nobody can type here; make one without: ssh-keygen -t " +
			"ed25519 -N ''")
	case err != nil: // what it says may quote the key
		return nil, errors.New("is no SSH private key that can be read; give the whole file that ssh-keygen -t ed25519 -N " +
			"'' makes, from -----BEGIN to the last line")
	}
	s := &Signer{key}
	if _, err := s.signature([]byte("can it sign?")); err != nil {
		return nil,
			fmt.Errorf("is an SSH key of the kind %s that cannot sign here; make another: ssh-keygen -t ed25519 -N ''",
				key.PublicKey().Type())
	}
	return s, nil
}

// Fingerprint is the public key's, as GitHub and ssh-keygen -l show it: "SHA256:…". The public key itself is a part of
// the private one, and so is hidden wherever secrets are.
func (s *Signer) Fingerprint() string { return ssh.FingerprintSHA256(s.key.PublicKey()) }

// Public is the public key as a line of authorized_keys or of GitHub's list of signing keys, without a comment.
func (s *Signer) Public() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.key.PublicKey())))
}

// signature is a commit's signature as git expects it of ssh-keygen -Y sign -n git.
func (s *Signer) signature(commit []byte) ([]byte, error) {
	made, err := sshsig.Sign(bytes.NewReader(commit), s.key, sshsig.HashSHA512, "git")
	if err != nil {
		return nil, err
	}
	return sshsig.Armor(made), nil
}

// signed is a commit with its signature as its last header. The object format is told by the length of an id.
func (s *Signer) signed(commit []byte, idLength int) ([]byte, error) {
	made, err := s.signature(commit)
	if err != nil {
		return nil, fmt.Errorf("signing the commit: %w", err)
	}
	header := "gpgsig "
	if idLength == 64 {
		header = "gpgsig-sha256 "
	}
	head, message, ok := bytes.Cut(commit, []byte("\n\n"))
	if !ok {
		return nil, errors.New("signing the commit: it has no end of its header")
	}
	lines := strings.ReplaceAll(strings.TrimSpace(string(made)), "\n", "\n ")
	return fmt.Appendf(nil, "%s\n%s%s\n\n%s", head, header, lines, message), nil
}

// commitTree makes a commit of the harness's own, signed when there is a key. No ref moves.
func (t *Tree) commitTree(ctx context.Context, tree, parent, message string) (commit string, err error) {
	if t.o.Sign == nil {
		args := []string{"commit-tree", tree, "-p", parent, "-F", "-"}
		if t.signs {
			args = append(args, "-S")
		}
		commit, _, err = t.git.run(ctx, call{in: strings.NewReader(message), args: args})
		return strings.TrimSpace(commit), t.unsigned(err)
	}
	by, err := t.committer(ctx)
	if err != nil {
		return "", err
	}
	author, err := t.author(ctx)
	if err != nil {
		return "", err
	}
	now := time.Now().Unix()
	return t.store(ctx, fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s %d +0000\ncommitter %s %d +0000\n\n%s\n", tree,
		parent, author, now, by, now, strings.TrimSpace(message)), len(parent))
}

// unsigned makes the error of a git that could not sign a commit one that says so.
func (t *Tree) unsigned(err error) error {
	var e *commandError
	if !t.signs || !errors.As(err, &e) || !slices.ContainsFunc(signingFailed,
		func(said string) bool { return strings.Contains(e.Stderr, said) }) {
		return err
	}
	return &SigningError{strings.TrimRight(lastLine(e.Stderr), "?.:")}
}

// signingFailed is what git says, in one way or another, when it could not sign: its own words, since each program that
// signs has others.
var signingFailed = []string{"failed to sign", "load public key", "user.signingkey", "defaultKeyCommand", "cannot run "}

// store signs a commit and puts it into the repository.
func (t *Tree) store(ctx context.Context, commit []byte, idLength int) (id string, err error) {
	with, err := t.o.Sign.signed(commit, idLength)
	if err != nil {
		return "", err
	}
	id, _, err = t.git.run(ctx, call{in: bytes.NewReader(with),
		args: []string{"hash-object", "-t", "commit", "-w", "--stdin"}})
	return strings.TrimSpace(id), err
}

// commitSigned is commit with a signature: of the index, on top of the commit that HEAD is at.
func (t *Tree) commitSigned(ctx context.Context, parent, message string) error {
	tree, err := t.git.out(ctx, "write-tree")
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	id, err := t.commitTree(ctx, strings.TrimSpace(tree), parent, message)
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	if _, err := t.git.out(ctx, "update-ref", "-m", "commit: signed", "HEAD", id, parent); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// signAbove signs the commits of a ref above another commit, which git has just made for us without a signature, and
// puts the ref on the newest of them.
func (t *Tree) signAbove(ctx context.Context, ref, parent string) (tip string, err error) {
	out, err := t.git.out(ctx, "rev-list", "--topo-order", "--reverse", ref, "^"+parent)
	ids := fields(out)
	if err != nil || len(ids) == 0 {
		return parent, err
	}
	tip = ids[len(ids)-1]
	all, _, err := t.git.run(ctx, call{in: strings.NewReader(out), args: []string{"cat-file", "--batch"}})
	if err != nil {
		return tip, fmt.Errorf("signing the commits: %w", err)
	}
	from, now := bufio.NewReader(strings.NewReader(all)), map[string]string{}
	for _, id := range ids {
		commit, err := blob(from)
		if err != nil {
			return tip, fmt.Errorf("signing the commits: %w", err)
		}
		if now[id], err = t.store(ctx, onto(commit, now), len(id)); err != nil {
			return tip, fmt.Errorf("signing the commits: %w", err)
		}
	}
	if _, err := t.git.out(ctx, "update-ref", ref, now[tip], tip); err != nil {
		return tip, fmt.Errorf("signing the commits: %w", err)
	}
	return now[tip], nil
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

// author is whose work the commits are, as git writes it: "Name <email>".
func (t *Tree) author(ctx context.Context) (string, error) {
	if t.writer != "" {
		return t.writer, nil
	}
	out, err := t.git.out(ctx, "var", "GIT_AUTHOR_IDENT")
	if err != nil {
		return "", fmt.Errorf("asking git who the author is: %w", err)
	}
	t.writer = out[:strings.LastIndexByte(out, '>')+1]
	return t.writer, nil
}
