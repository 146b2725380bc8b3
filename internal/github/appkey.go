package github

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"regexp"
	"strings"
	"sync"
)

// mostKey bounds the text of a private key: one of 16,384 bits is 13 KiB.
const mostKey = 64 << 10

// Key is the private key of an App. It shows itself nowhere: not in logs, errors or JSON.
type Key struct{ rsa *rsa.PrivateKey }

// String hides the key.
func (Key) String() string { return "[the App's private key]" }

// GoString hides the key.
func (k Key) GoString() string { return k.String() }

// MarshalText hides the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// PEM is the key in the form in which GitHub gives it, to be kept encrypted.
func (k Key) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k.rsa)})
}

// ReadKey reads an App's private key: the PEM file as it is, with its line breaks written as \n or lost, or base64 with
// or without the lines around it. No error holds any of the text.
func ReadKey(text string) (Key, error) {
	key, ok := parseKey(text)
	if !ok {
		return Key{}, errors.New("reading the App's private key: it is no RSA private key in PEM or base64; paste the whole file " +
			"that GitHub gave, from -----BEGIN to the end, without a password")
	}
	return Key{key}, nil
}

// armour is a line before or after a key, also where line breaks have become spaces or nothing.
var armour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-----[A-Z0-9 ]{1,50}-----`) })

// unwritten takes out line breaks that are written as \n, quotes, and the mark that some editors put first.
var unwritten = strings.NewReplacer(`\r`, "", `\n`, "", `"`, "", "'", "", "\ufeff", "")

// parseKey reads the base64 between the lines around a key, or the PEM file that this holds.
func parseKey(text string) (*rsa.PrivateKey, bool) {
	if len(text) > mostKey {
		return nil, false
	}
	inner := strings.Join(strings.Fields(armour().ReplaceAllString(unwritten.Replace(text), "")), "")
	der, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return nil, false
	}
	if bytes.Contains(der, []byte("-----BEGIN")) {
		return parseKey(string(der))
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, true
	}
	parsed, _ := x509.ParsePKCS8PrivateKey(der)
	key, ok := parsed.(*rsa.PrivateKey)
	return key, ok
}
