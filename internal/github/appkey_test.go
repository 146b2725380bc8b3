package github

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

// TestReadKey has a row for each form in which people paste a key.
func TestReadKey(t *testing.T) {
	raw := x509.MarshalPKCS1PrivateKey(appKey())
	other := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(appKey()))
	asPEM := string(Key{appKey()}.PEM())
	asPKCS8 := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: other}))
	file := func(name string) ([]byte, error) {
		switch name {
		case "/etc/ralph/key.pem", `C:\new\key.pem`:
			return []byte(asPEM), nil
		}
		return nil, errors.New("there is no such file")
	}
	for what, text := range map[string]string{
		"PEM": asPEM, "PKCS 8": asPKCS8, "with \\n": strings.ReplaceAll(asPEM, "\n", `\n`),
		"with \\r\\n": strings.ReplaceAll(asPEM, "\n", `\r\n`), "of Windows": "\ufeff" + strings.ReplaceAll(asPEM, "\n",
			"\r\n"),
		"on one line": strings.ReplaceAll(asPEM, "\n", " "), "without breaks": strings.ReplaceAll(asPEM, "\n", ""),
		"in quotes": `"` + strings.ReplaceAll(asPEM, "\n", `\n`) + `"`, "indented": strings.ReplaceAll(asPEM, "\n", "\n    "),
		"with words around":    "the key:\n" + asPEM + "\nkeep it\n",
		"base64 of PEM":        base64.StdEncoding.EncodeToString([]byte(asPEM)),
		"base64 for addresses": base64.RawURLEncoding.EncodeToString([]byte(asPEM)),
		"base64 alone":         base64.StdEncoding.EncodeToString(raw),
		"base64 of PKCS 8":     base64.StdEncoding.EncodeToString(other),
		"a file":               "/etc/ralph/key.pem", "a file of Windows": ` "C:\new\key.pem" `,
	} {
		key, err := ReadKey(text, file)
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
	for want, texts := range map[string][]string{
		"it is empty":            {"", "  ", `""`},
		"neither PEM nor base64": {"no key, sorry!", "hello, world"},
		"its end is missing":     {asPEM[:300], strings.Replace(asPEM, "END RSA", "END DSA", 1)},
		"the public part":        {block("PUBLIC KEY", public), block("CERTIFICATE", public)},
		"with a password": {block("ENCRYPTED PRIVATE KEY", raw), strings.Replace(asPEM, "KEY-----\n",
			"KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1)},
		"a key of another kind":  {block("OPENSSH PRIVATE KEY", raw), block("EC PRIVATE KEY", ec)},
		"no RSA key":             {block("PRIVATE KEY", ec)},
		"is damaged":             {strings.Replace(asPEM, "MI", "M!", 1)},
		"cut or damaged":         {block("RSA PRIVATE KEY", raw[:200]), block("RSA PRIVATE KEY", damaged)},
		"much longer than a key": {strings.Repeat("x", mostKey+1)},
	} {
		for _, text := range texts {
			_, err := ReadKey(text, nil)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "MII") {
				t.Errorf("%.60q: %v, want %s", text, err, want)
			}
		}
	}
	if _, err := ReadKey("/etc/nothing", file); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
