package git

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

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
		return nil, errors.New("is a key with a passphrase, which cannot be entered here; create one without: ssh-keygen -t " +
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

// Fingerprint is the public key's, as GitHub and ssh-keygen -l show it: "SHA256:…".
func (s *Signer) Fingerprint() string { return ssh.FingerprintSHA256(s.key.PublicKey()) }

// signature is a commit's signature as git expects it of ssh-keygen -Y sign -n git.
func (s *Signer) signature(commit []byte) ([]byte, error) {
	made, err := sshsig.Sign(bytes.NewReader(commit), s.key, sshsig.HashSHA512, "git")
	if err != nil {
		return nil, err
	}
	return sshsig.Armor(made), nil
}

// signed is a commit with its signature as its last header. The length of an id gives the object format.
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

// SigningError says that the user's git signs commits and could not sign one.
type SigningError struct{ Detail string }

func (e *SigningError) Error() string {
	return fmt.Sprintf("git could not sign the commit: %s; give git a key that it can sign with, or set commit.gpgsign "+
		"to false", e.Detail)
}

// Invalid says that it is a mistake in the settings of git.
func (e *SigningError) Invalid() bool { return true }
