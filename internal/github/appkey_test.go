package github

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
)

// TestReadKey has a row for each form in which people paste a key.
func TestReadKey(t *testing.T) {
	raw := x509.MarshalPKCS1PrivateKey(appKey())
	other := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(appKey()))
	asPEM := string(Key{appKey()}.PEM())
	asPKCS8 := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: other}))
	for what, text := range map[string]string{
		"PEM": asPEM, "PKCS 8": asPKCS8, "with \\n": strings.ReplaceAll(asPEM, "\n", `\n`),
		"with \\r\\n": strings.ReplaceAll(asPEM, "\n", `\r\n`), "of Windows": "\ufeff" + strings.ReplaceAll(asPEM, "\n",
			"\r\n"),
		"on one line": strings.ReplaceAll(asPEM, "\n", " "), "without breaks": strings.ReplaceAll(asPEM, "\n", ""),
		"in quotes": `"` + strings.ReplaceAll(asPEM, "\n", `\n`) + `"`, "indented": strings.ReplaceAll(asPEM, "\n", "\n    "),
		"base64 of PEM":    base64.StdEncoding.EncodeToString([]byte(asPEM)),
		"base64 alone":     base64.StdEncoding.EncodeToString(raw),
		"base64 of PKCS 8": base64.StdEncoding.EncodeToString(other),
	} {
		key, err := ReadKey(text)
		if err != nil || !key.rsa.Equal(appKey()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	curve := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	ec := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(curve))
	public := must[[]byte](t)(x509.MarshalPKIXPublicKey(&appKey().PublicKey))
	damaged := append([]byte{}, raw...)
	damaged[len(damaged)/2] ^= 1
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	for what, text := range map[string]string{
		"nothing": "", "other words": "hello, world", "without an end": asPEM[:300], "the public part": block("PUBLIC KEY", public),
		"encrypted":    strings.Replace(asPEM, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1),
		"another kind": block("PRIVATE KEY", ec), "cut": block("RSA PRIVATE KEY", raw[:200]),
		"damaged": block("RSA PRIVATE KEY", damaged), "much too long": strings.Repeat("\n", mostKey) + asPEM,
	} {
		_, err := ReadKey(text)
		if err == nil || !strings.Contains(err.Error(), "no RSA private key") || strings.Contains(err.Error(), "MII") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
