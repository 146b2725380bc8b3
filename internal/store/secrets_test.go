package store

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestSecrets(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	ok(t, w.Seal(ctx, "app.key", []byte("before")))
	ok(t, w.Seal(ctx, "app.key", []byte("PEM of the app")))
	ok(t, w.Seal(ctx, "other", []byte("other")))
	if found := got[[]byte](t)(w.Unseal(ctx, "app.key")); string(found) != "PEM of the app" {
		t.Errorf("%q", found)
	}
	stored := got[[]byte](t)(one[[]byte](ctx, w.Store, "", "SELECT sealed FROM ralph_secrets WHERE name = 'app.key'"))
	if strings.Contains(string(stored), "PEM") || stored[0] != 1 {
		t.Errorf("%q", stored)
	}
	changed := append([]byte{}, stored...)
	changed[len(changed)-1] ^= 1
	for _, row := range []struct {
		what, name string
		value      []byte
	}{
		{"a value of another name", "other", stored}, {"a changed one", "app.key", changed}, {"none", "app.key", []byte{}},
		{"only a number", "app.key", []byte{1}}, {"an unknown key", "app.key", []byte{9, 1}},
	} {
		ok(t, w.exec(ctx, "", "UPDATE ralph_secrets SET sealed = ? WHERE name = ?", row.value, row.name))
		if found, err := w.Unseal(ctx, row.name); err == nil {
			t.Errorf("%s: %q", row.what, found)
		}
	}
}

func TestKeysOfADatabase(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	ok(t, w.Seal(ctx, "a", []byte("secret a")))
	expires := w.time.read().Add(time.Hour)
	ok(t, w.PutSession(ctx, "token", Session{Login: "alice", OAuth: []byte("gho_1"), Expires: expires}))
	ok(t, w.PutSession(ctx, "without", Session{Login: "bob", Expires: expires}))
	w.options.Keys = keysFor(t, key1+","+key2)
	w.again(t)
	if found := got[[]byte](t)(w.Unseal(ctx, "a")); string(found) != "secret a" {
		t.Errorf("%q", found)
	}
	if found := got[Session](t)(w.Session(ctx, "token")); string(found.OAuth) != "gho_1" {
		t.Errorf("%+v", found)
	}
	ok(t, w.Close())
	for _, text := range []string{key2, strings.Replace(key2, "2:", "1:", 1)} {
		o := w.options
		o.Keys = keysFor(t, text)
		if s, err := Open(ctx, o); !invalid.Is(err) || !strings.Contains(fmt.Sprint(err), "not those of this database") {
			t.Error(s, err)
		}
	}
	if _, err := RotateKey(ctx, w.options, key1); !invalid.Is(err) {
		t.Error("one key:", err)
	}
	if told := got[string](t)(RotateKey(ctx, w.options, key1+","+key2)); !strings.HasPrefix(told, "Everything is sealed with key 2 now. The others") {
		t.Error(told)
	}
	w.options.Keys = keysFor(t, key2)
	w.open(t)
	if found := got[Session](t)(w.Session(ctx, "token")); string(found.OAuth) != "gho_1" {
		t.Errorf("after a rotation: %+v", found)
	}
	ok(t, w.Close())
	w.options.Keys = Keys{}
	w.open(t)
	if err := w.Seal(ctx, "b", nil); !errors.Is(err, errNoKey) {
		t.Error(err)
	}
	if _, err := w.Unseal(ctx, "a"); !errors.Is(err, errNoKey) {
		t.Error(err)
	}
}

func TestSessions(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	expires := w.time.read().Add(time.Hour)
	ok(t, w.PutSession(ctx, "one", Session{Login: "Alice", OAuth: []byte("gho_x"), Expires: expires}))
	ok(t, w.PutSession(ctx, "two", Session{Login: "alice", Expires: expires}))
	ok(t, w.PutSession(ctx, "three", Session{Login: "ALICE", Expires: expires}))
	ok(t, w.PutSession(ctx, "bob's", Session{Login: "bob", Expires: expires.Add(time.Hour)}))
	found := got[Session](t)(w.Session(ctx, "one"))
	if found.Login != "Alice" || string(found.OAuth) != "gho_x" || !found.Expires.Equal(expires) {
		t.Errorf("%+v", found)
	}
	none := func(token string) {
		t.Helper()
		if found, err := w.Session(ctx, token); !errors.Is(err, ErrNotFound) {
			t.Error(found, err)
		}
	}
	none("on")
	none(hashed("one"))
	ok(t, w.EndSession(ctx, "one", false))
	none("one")
	got[Session](t)(w.Session(ctx, "two"))
	ok(t, w.EndSession(ctx, "two", true))
	none("two")
	none("three")
	got[Session](t)(w.Session(ctx, "bob's"))
	w.time.move(2 * time.Hour)
	none("bob's")
}

func TestKeysOfAText(t *testing.T) {
	long := strings.TrimPrefix(key1, "1:")
	for text, newest := range map[string]byte{long: 1, strings.TrimRight(long, "="): 1, key1: 1,
		key1 + "\n" + key2 + "\n": 2, key2 + ", " + key1: 2, "255:" + long: 255} {
		if keys, err := ParseKeys(text); err != nil || keys.newest != newest {
			t.Errorf("%q: %v %v", text, keys.newest, err)
		}
	}
	secret := base64.StdEncoding.EncodeToString([]byte("thirty-one bytes, one too little"[:31]))
	for _, text := range []string{"", " ", "x", secret, "0:" + long, "256:" + long, "a:" + long, key1 + " " + long,
		key1 + " " + key1, "1:" + long + long} {
		keys, err := ParseKeys(text)
		if !invalid.Is(err) {
			t.Errorf("%q: %v, %v", text, keys, err)
		}
		if strings.Contains(fmt.Sprint(err), long[:20]) || strings.Contains(fmt.Sprint(err), secret[:20]) {
			t.Errorf("a key is in the error: %v", err)
		}
	}
	keys := keysFor(t, key2)
	if said := fmt.Sprintf("%v %+v %#v", keys, keys, keys); said != "1 keys 1 keys 1 keys" {
		t.Error(said)
	}
}

func TestTheFileOfKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(dir, keyFile)
	first := got[Keys](t)(LoadKeys("", dir))
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	sealed := got[[]byte](t)(first.seal("p", []byte("v")))
	again := got[Keys](t)(LoadKeys("\n", dir))
	if v, err := again.open("p", sealed); string(v) != "v" {
		t.Error(v, err)
	}
	ok(t, os.Chmod(file, 0o640))
	if _, err := LoadKeys("", dir); !invalid.Is(err) {
		t.Error(err)
	}
	ok(t, os.Rename(file, file+".real"))
	ok(t, os.Symlink(file+".real", file))
	if _, err := LoadKeys("", dir); !invalid.Is(err) {
		t.Error(err)
	}
	if keys, err := LoadKeys(key2, dir); err != nil || keys.newest != 2 {
		t.Error("a text goes before a file:", keys, err)
	}
}
