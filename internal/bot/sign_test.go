package bot

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"testing"

	"golang.org/x/crypto/ssh"
)

// signingKey is a new private key.
func signingKey(t *testing.T, passphrase string) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	noError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "ralph")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "ralph", []byte(passphrase))
	}
	noError(t, err)
	return string(pem.EncodeToMemory(block))
}
