package main

import (
	"bytes"
	"os"
	"testing"
)

// TestNotices: the file that goes with a release names what is in it, with every licence.
func TestNotices(t *testing.T) {
	var want bytes.Buffer
	if err := write(&want); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../THIRD_PARTY_NOTICES")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("THIRD_PARTY_NOTICES is not what make notices writes: run it")
	}
}

// TestModuleWithoutLicence cannot be given to anybody.
func TestModuleWithoutLicence(t *testing.T) {
	if text, err := licences(t.TempDir()); err == nil {
		t.Errorf("%q", text)
	}
}
