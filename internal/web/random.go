package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
)

// random is 32 bytes that nobody guesses.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// same compares two secrets in a time that tells nothing of them. Nothing is never the same.
func same(x, y string) bool { return x != "" && subtle.ConstantTimeCompare([]byte(x), []byte(y)) == 1 }
