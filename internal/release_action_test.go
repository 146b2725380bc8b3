package internal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// TestReleaseNamesItsImageByDigest: the commit of a release has main's action.yml, but for the line that names the
// image, and the checksums by which the host variant knows its programs. What names no release is refused.
func TestReleaseNamesItsImageByDigest(t *testing.T) {
	need.Program(t, "bash")
	if runtime.GOOS != "linux" {
		t.Skip("releases are made on Linux")
	}
	image := "ghcr.io/ralph-loop/ralph-claude@sha256:" + strings.Repeat("0a", 32)
	var archives strings.Builder
	for _, name := range []string{"linux_amd64.tar.gz", "linux_arm64.tar.gz", "darwin_amd64.tar.gz", "darwin_arm64.tar.gz",
		"windows_amd64.zip", "windows_arm64.zip"} {
		fmt.Fprintf(&archives, "%s  ralph_%s\n", strings.Repeat("1b", 32), name)
	}
	packages := strings.Repeat("2c", 32) + "  ralph_linux_amd64.deb\n"
	for _, c := range []struct{ name, version, image, checksums, want string }{
		{"a release", "v1.2.3", image, archives.String() + packages, ""},
		{"a rehearsal", "v1.2.3-rehearsal", image, archives.String(), ""},
		{"an image by its tag", "v1.2.3", "ghcr.io/ralph-loop/ralph-claude:v0", archives.String(), "no image by its digest"},
		{"a version without v", "1.2.3", image, archives.String(), "no version such as v1.2.3"},
		{"an archive is missing", "v1.2.3", image, strings.Replace(archives.String(), "darwin_arm64.tar.gz", "x", 1),
			"has not the six archives"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			list := filepath.Join(dir, "checksums.txt")
			noError(t, os.WriteFile(list, []byte(c.checksums), 0o600))
			said, err := exec.Command("../.ci/release-action", c.version, c.image, list, dir).CombinedOutput()
			if c.want != "" {
				if err == nil || !strings.Contains(string(said), c.want) {
					t.Errorf("%v: %q, want %q", err, said, c.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			want := strings.Replace(document(t, "../action.yml"), "  image: Dockerfile\n",
				"  image: 'docker://"+c.image+"' # "+c.version+"\n", 1)
			if got := document(t, filepath.Join(dir, "action.yml")); got != want {
				t.Errorf("action.yml is\n%s", got)
			}
			if got := document(t, filepath.Join(dir, "host", "release.txt")); got != "# "+c.version+"\n"+archives.String() {
				t.Errorf("release.txt is\n%s", got)
			}
		})
	}
}
