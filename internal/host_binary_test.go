package internal_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// hostCase is one way in which the host variant of the action looks for its program.
type hostCase struct {
	name    string
	env     []string
	served  http.HandlerFunc // of archives; nil: the right one
	gh      string           // a script; empty: gh is not there
	noList  bool             // the commit is no release
	want    string           // in the output; empty: the program is found
	fetches int
}

// releasedProgram is an archive as releases have it, and its checksum. Its program only knows its version.
func releasedProgram(t *testing.T) (archive []byte, checksum string) {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	packed := tar.NewWriter(zipped)
	program := "#!/bin/sh\necho v1.2.3\n"
	noError(t, packed.WriteHeader(&tar.Header{Name: "ralph", Mode: 0o755, Size: int64(len(program))}))
	_, _ = packed.Write([]byte(program))
	_ = packed.Close()
	_ = zipped.Close()
	return b.Bytes(), fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
}

// TestHostTakesOnlyWhatWasReleased: the host variant fetches the program of its own version, holds it to its checksum
// and attestation, keeps it, and ends with one sentence when anything is not as it should be.
func TestHostTakesOnlyWhatWasReleased(t *testing.T) {
	need.Program(t, "bash")
	archive, checksum := releasedProgram(t)
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		_, _ = w.Write(archive[:len(archive)/2])
	}
	other := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("something else")) }
	answer := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	const nobody = "http://127.0.0.1:9"
	holds, fails := "#!/bin/sh\nexit 0\n", "#!/bin/sh\n[ $2 = --help ] || { echo no such signer; exit 1; }\n"
	for _, c := range []hostCase{
		{name: "as released", fetches: 1},
		{name: "attested", gh: holds, fetches: 2},
		{name: "attested by somebody else", gh: fails, fetches: 2, want: "does not hold: no such signer"},
		{name: "an attestation is required", env: []string{"ATTESTATION=require"}, fetches: 1,
			want: "gh, which reads attestations"},
		{name: "nobody asks for the attestation", env: []string{"ATTESTATION=off"}, gh: fails, fetches: 1},
		{name: "another file", served: other, want: "is not the file that was released", fetches: 1},
		{name: "cut off", served: cut, want: "was cut off: run the job again", fetches: 2},
		{name: "not published", served: answer(404), want: "is not among the files of the release v1.2.3", fetches: 1},
		{name: "forbidden", served: answer(403), want: "answers 403", fetches: 1},
		{name: "nobody there", env: []string{"RELEASE_URL=" + nobody}, want: "cannot be reached"},
		{name: "a proxy that is not there", env: []string{"http_proxy=" + nobody, "no_proxy="}, want: "through the proxy"},
		{name: "no archive for it", env: []string{"RUNNER_ARCH=RISCV64"}, want: "no program for linux on RISCV64"},
		{name: "no release", noList: true, want: "is no release"},
		{name: "a path", env: []string{"RALPH_PATH=/no/such/ralph"}, want: `"/no/such/ralph", which is no program`},
		{name: "a wrong input", env: []string{"BUILD=yes"}, want: `input build is "yes"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, archive, checksum)
		})
	}
}

func (c hostCase) run(t *testing.T, archive []byte, checksum string) {
	var fetches int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetches++ // one request at a time
		switch {
		case strings.HasSuffix(r.URL.Path, ".jsonl"):
			_, _ = w.Write([]byte("{}\n"))
		case c.served != nil:
			c.served(w, r)
		default:
			_, _ = w.Write(archive)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	list := fmt.Sprintf("# v1.2.3\n%s  ralph_linux_amd64.tar.gz\n", checksum)
	programs := c.lay(t, dir, list)
	hostRun := func() (string, string) {
		output := filepath.Join(dir, "output")
		noError(t, os.WriteFile(output, nil, 0o600))
		cmd := exec.Command("bash", filepath.Join(dir, "host", "binary.sh"))
		cmd.Env = append([]string{"PATH=" + programs, "GITHUB_OUTPUT=" + output, "RUNNER_TEMP=" + dir,
			"RUNNER_TOOL_CACHE=" + filepath.Join(dir, "cache"), "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "HOME=" + dir,
			"RELEASE_URL=" + server.URL}, c.env...)
		said, err := cmd.CombinedOutput()
		if (err == nil) != (c.want == "") {
			t.Errorf("%v\n%s", err, said)
		}
		found, err := os.ReadFile(output)
		noError(t, err)
		return string(said), strings.TrimPrefix(strings.TrimSpace(string(found)), "path=")
	}
	said, path := hostRun()
	if fetches != c.fetches {
		t.Errorf("%d files were asked for, want %d\n%s", fetches, c.fetches, said)
	}
	if c.want != "" {
		oneLine := strings.HasPrefix(said, "::error::") && strings.Count(said, "\n") == 1
		if !oneLine || !strings.Contains(said, c.want) || path != "" {
			t.Errorf("%q is not one sentence with %q; path %q", said, c.want, path)
		}
		return
	}
	if out, err := exec.Command(path).Output(); err != nil || string(out) != "v1.2.3\n" { //nolint:gosec // this test's own
		t.Errorf("%q: %q %v", path, out, err)
	}
	if hostRun(); fetches != c.fetches {
		t.Errorf("what was kept was fetched again: %d", fetches)
	}
	kept := filepath.Join(dir, "cache", "ralph", "v1.2.3", "ralph_linux_amd64.tar.gz")
	noError(t, os.WriteFile(kept, []byte("changed"), 0o600))
	if hostRun(); fetches == c.fetches {
		t.Error("what somebody has changed in the cache was taken")
	}
}

// lay puts the scripts where the runner has them, and gives a PATH with what they may call and nothing else.
func (c hostCase) lay(t *testing.T, dir, list string) (programs string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the programs that the script calls are those of a Linux runner here")
	}
	programs = filepath.Join(dir, "bin")
	for _, made := range []string{"host", "bin"} {
		noError(t, os.Mkdir(filepath.Join(dir, made), 0o755))
	}
	for _, name := range strings.Fields("bash sh sed awk cut curl sha256sum tar gzip mktemp mkdir mv rm touch tail uname " +
		"realpath dirname sleep") {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(programs, name))
		}
		noError(t, err)
	}
	write := func(name, text string) {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	write("host/binary.sh", document(t, "../host/binary.sh"))
	if !c.noList {
		write("host/release.txt", list)
	}
	if c.gh != "" {
		write("bin/gh", c.gh)
	}
	return programs
}
