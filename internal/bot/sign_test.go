package bot

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
)

// signingKey is a new private key.
func signingKey(t *testing.T, passphrase string) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "ralph")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "ralph", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

// TestSignedRun: every commit of a run that ralph makes verifies, and nobody but ralph sees the key: not the agent,
// which prints all that it finds, not the log, not a file.
func TestSignedRun(t *testing.T) {
	seldom(t)
	t.Parallel()
	need.Program(t, "ssh-keygen") // verifies
	w := newWorld(t)
	key := signingKey(t, "")
	w.inputs["signing_key"] = key
	w.inputs["max_iterations"] = "2"
	seen := w.shared("seen")
	w.inputs["agent"] = w.script("agent", "{ env; cat /proc/$PPID/cmdline; cat /proc/$PPID/environ; } >>"+seen+" 2>&1; "+
		"cat "+filepath.Join(w.dir, "key")+"; cp "+filepath.Join(w.dir, "key")+
		" stolen 2>/dev/null; echo x >>tried; echo '<response>DONE</response>'\n")
	w.write("key", key) // as if it had got hold of it
	w.must(loop.Capped)(w.label("alice"))
	signer, err := git.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ssh.ParsePrivateKey([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	w.write("allowed", "x namespaces=\"git\" "+string(ssh.MarshalAuthorizedKey(private.PublicKey())))
	if !strings.Contains(w.out.String(), "commits are signed with the key "+signer.Fingerprint()+"\n") {
		t.Error("the log does not name the key by its fingerprint")
	}
	failure := ""
	for _, branch := range w.branches() {
		if strings.HasPrefix(branch, "wip/ralph-fail-") {
			failure = branch
		}
	}
	shown := strings.Fields(w.git("-c", "gpg.ssh.allowedSignersFile="+filepath.Join(w.dir, "allowed"), "log",
		"--format=%G?", "main.."+failure))
	if failure == "" || strings.Join(shown, "") != "GGG" { // two iterations, and what ends the failure branch
		t.Errorf("the commits of %q are %q; G is signed and verified (ssh-keygen, of openssh-client, is needed)", failure,
			shown)
	}
	if names := w.git("ls-tree", "-r", "--name-only", failure); !strings.Contains(names, "tried") ||
		strings.Contains(names, "stolen") {
		t.Errorf("committed are %q", names)
	}
	var everything strings.Builder
	everything.WriteString(w.out.String() + w.file("seen") + w.file("summary") + w.file("output"))
	for _, number := range []int{w.issue, w.issue + 1} {
		everything.WriteString(strings.Join(w.bodies(number), "\n"))
	}
	everything.WriteString(w.git("log", "-p", "--all", "--format=%B"))
	masks := 0
	for i, line := range strings.Split(strings.TrimSpace(key), "\n") {
		if i < 2 || strings.HasPrefix(line, "-----") { // what every such key begins with
			continue
		}
		for said := range strings.Lines(everything.String()) {
			if strings.HasPrefix(said, "::add-mask::") {
				masks++
			} else if strings.Contains(said, line) {
				t.Errorf("a line of the key is shown: %s", said)
			}
		}
	}
	if masks == 0 {
		t.Error("the key is not masked")
	}
}
