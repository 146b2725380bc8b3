package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Keys are what secrets are sealed with: the newest seals, all of them open. The zero value has none.
type Keys struct {
	of     map[byte]cipher.AEAD // AES-256-GCM that makes its own nonces
	newest byte                 // the highest number
}

// String says nothing of the keys.
func (k Keys) String() string { return fmt.Sprintf("%d keys", len(k.of)) }

// GoString says nothing of the keys.
func (k Keys) GoString() string { return k.String() }

// keyFile is the name of the file with the keys, in the directory of the database.
const keyFile = "ralph.key"

const keyBytes = 32

// ParseKeys reads keys of AES-256: "NUMBER:BASE64" separated by commas or white space, with numbers from 1 to 255; one
// key alone needs no number. Errors say nothing of the text.
func ParseKeys(text string) (Keys, error) {
	keys := Keys{of: map[byte]cipher.AEAD{}}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	for i, word := range words {
		label, value, found := strings.Cut(word, ":")
		if !found && len(words) == 1 {
			label, value = "1", word
		}
		n, err := strconv.ParseUint(label, 10, 8)
		if err != nil || n == 0 {
			return Keys{}, invalid.Errorf("key %d of %d has no number between 1 and 255: write NUMBER:BASE64", i+1, len(words))
		}
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
		if err != nil || len(key) != keyBytes {
			return Keys{}, invalid.Errorf("key %d is not the base64 of %d bytes: make one with openssl rand -base64 %d", n,
				keyBytes, keyBytes)
		}
		if _, twice := keys.of[byte(n)]; twice {
			return Keys{}, invalid.Errorf("key %d is given twice", n)
		}
		block, err := aes.NewCipher(key)
		if err == nil {
			keys.of[byte(n)], err = cipher.NewGCMWithRandomNonce(block)
		}
		if err != nil {
			return Keys{}, err
		}
		keys.newest = max(keys.newest, byte(n))
	}
	if len(words) == 0 {
		return Keys{}, invalid.Errorf("no key is given: make one with openssl rand -base64 %d", keyBytes)
	}
	return keys, nil
}

// LoadKeys reads the keys from a text, that of an environment variable, or, where it is empty, from the file keyFile in
// dir. A file that does not exist is made, with one key and mode 0600; one that others may read is refused.
func LoadKeys(text, dir string) (Keys, error) {
	if strings.TrimSpace(text) != "" {
		return ParseKeys(text)
	}
	file := filepath.Join(dir, keyFile)
	read, err := readKeyFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		made := errors.Join(os.MkdirAll(dir, 0o700), writeKeyFile(file, newKey()))
		if read, err = readKeyFile(file); err != nil { // nor has another process made it
			err = made
		}
	}
	if err != nil {
		return Keys{}, fmt.Errorf("reading the keys of the database: %w", err)
	}
	keys, err := ParseKeys(read)
	if err != nil {
		return Keys{}, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

func readKeyFile(file string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", invalid.Errorf("%s is not a regular file: put the keys there themselves", file)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // Windows has no such bits
		return "", invalid.Errorf("%s has mode %04o, and others may read it: chmod 600 it, or better, make a new key, "+
			"since this one may be known", file, info.Mode().Perm())
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// writeKeyFile creates a file that only we can read.
func writeKeyFile(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// newKey is the first line of the file of keys.
func newKey() string {
	key := make([]byte, keyBytes)
	rand.Read(key) // ends the program rather than fail
	return "1:" + base64.StdEncoding.EncodeToString(key) + "\n"
}

// errNoKey is returned to callers that seal without a key.
var errNoKey = errors.New("the database was opened without a key, so nothing secret can be stored or read")

// seal encrypts the value of a name. Under another name it does not open.
func (k Keys) seal(name string, value []byte) ([]byte, error) {
	with, ok := k.of[k.newest]
	if !ok {
		return nil, errNoKey
	}
	return with.Seal([]byte{k.newest}, nil, value, []byte(name)), nil
}

// open decrypts what seal made for that name.
func (k Keys) open(name string, sealed []byte) ([]byte, error) {
	if len(k.of) == 0 {
		return nil, errNoKey
	}
	if len(sealed) == 0 {
		return nil, fmt.Errorf("the secret %q holds nothing", name)
	}
	with, ok := k.of[sealed[0]]
	if !ok {
		return nil, invalid.Errorf("the secret %q is sealed with key %d, which is not among the keys: give that key, too",
			name, sealed[0])
	}
	value, err := with.Open(nil, nil, sealed[1:], []byte(name))
	if err != nil {
		return nil, invalid.Errorf("the secret %q does not open with key %d: that is another key, or the row was changed",
			name, sealed[0])
	}
	return value, nil
}
