package github

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
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

// ReadKey reads an App's private key in any form in which people paste one: the PEM file as it is, with its line breaks
// written as \n or lost, in quotes, in base64 with or without the lines around it, or the name of a file, which file
// reads (nil: names are refused). The key is tried by signing with it. No error holds any of the text.
func ReadKey(text string, file func(name string) ([]byte, error)) (Key, error) {
	text = unquoted(text)
	if len(text) <= mostKey && file != nil && namesFile(text) {
		content, err := file(text)
		if err != nil {
			return Key{}, fmt.Errorf("reading the file of the App's private key: %w", err)
		}
		text = unquoted(string(content))
	}
	key, err := parseKey(unescaped(text))
	if err != nil {
		return Key{}, fmt.Errorf("reading the App's private key: %w", err)
	}
	digest := sha256.Sum256([]byte("a try"))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err == nil {
		err = rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, digest[:], signature)
	}
	if err != nil {
		return Key{}, errors.New("reading the App's private key: it cannot sign; make another one on the App's page")
	}
	return Key{key}, nil
}

// unquoted takes quotes, white space and the mark that some editors put first off a text.
func unquoted(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	for _, quote := range []string{`"`, "'", "`"} {
		if len(text) >= 2 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) {
			text = strings.TrimSpace(text[1 : len(text)-1])
		}
	}
	return text
}

// unescaped makes line breaks of those that are written as \n, which no other part of a key looks like.
func unescaped(text string) string {
	return strings.NewReplacer(`\r`, "", `\n`, "\n", "\r", "").Replace(text)
}

// namesFile reports whether a text is a path rather than a key.
func namesFile(text string) bool {
	return text != "" && len(text) <= 4096 && !strings.ContainsAny(text, "\n\x00") &&
		!strings.Contains(text, "-----") && (len(text) <= 400 || !isBase64(text))
}

func isBase64(text string) bool {
	_, err := decodeBase64(text)
	return err == nil
}

func decodeBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.Join(strings.Fields(text), ""))
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

// armour finds the lines around a key, even where line breaks have become spaces or nothing.
var armour = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)-----BEGIN ([A-Z0-9 ]{1,40})-----(.*?)-----END ([A-Z0-9 ]{1,40})-----`)
})

const pasteAll = "paste the whole file that GitHub gave, from -----BEGIN to the end"

func parseKey(text string) (*rsa.PrivateKey, error) {
	switch {
	case text == "":
		return nil, errors.New("it is empty; " + pasteAll)
	case len(text) > mostKey:
		return nil, errors.New("it is much longer than a key; " + pasteAll)
	}
	if !strings.Contains(text, "-----BEGIN") {
		inner, err := decodeBase64(text)
		if err != nil {
			return nil, errors.New("it is neither PEM nor base64; " + pasteAll)
		}
		if !bytes.Contains(inner, []byte("-----BEGIN")) {
			return keyOf(inner)
		}
		text = unescaped(unquoted(string(inner)))
	}
	m := armour().FindStringSubmatch(text)
	if m == nil || m[1] != m[3] {
		return nil, errors.New("its end is missing; " + pasteAll)
	}
	kind, body := m[1], m[2]
	switch {
	case strings.Contains(kind, "PUBLIC KEY"), kind == "CERTIFICATE":
		return nil, errors.New("this is the public part, which cannot sign; make a private key on the App's page, under " +
			"Private keys")
	case kind == "ENCRYPTED PRIVATE KEY", strings.Contains(body, "ENCRYPTED"):
		return nil, errors.New("it is encrypted with a password; take the password off: openssl rsa -in key.pem")
	case kind != "RSA PRIVATE KEY" && kind != "PRIVATE KEY":
		return nil, errors.New("it is a key of another kind; GitHub's begins with -----BEGIN RSA PRIVATE KEY-----")
	}
	der, err := decodeBase64(body)
	if err != nil {
		return nil, errors.New("the text between its first and last line is damaged; " + pasteAll)
	}
	return keyOf(der)
}

// keyOf reads the two binary forms that an RSA key has.
func keyOf(der []byte) (*rsa.PrivateKey, error) {
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("it is cut or damaged; " + pasteAll)
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is no RSA key; GitHub's Apps have RSA keys: make one on the App's page")
	}
	return key, nil
}
