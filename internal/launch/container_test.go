//go:build unix

package launch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/work"
)

// TestContainerArguments: a container gets no more of this machine, and no more rights, than is said here.
func TestContainerArguments(t *testing.T) {
	c := &Containers{Process: Process{Program: "/opt/ralph", Environ: []string{"HTTPS_PROXY=http://me:secret@proxy", "TOKEN=x"},
		Limits: proc.Limits{Memory: 1 << 30}}, Server: "5eed", Network: "jobs"}
	args, err := c.arguments("ralph-jobs-1", "/data/jobs/1", Job{Image: "node:22",
		Order: work.Order{Job: "d-1", Mirror: "/data/mirrors/M"}})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(args, " ")
	for _, want := range []string{"run --rm --name ralph-jobs-1 --label ralph.job=d-1 --label ralph.server=5eed", "--read-only",
		"--cap-drop ALL", "--security-opt no-new-privileges", "--pids-limit 8192", "--memory 1073741824", "--network jobs",
		"source=/opt/ralph,target=/ralph/bin/ralph,readonly", "source=/data/jobs/1,target=/ralph/job,readonly",
		"source=/data/mirrors/M,target=/ralph/mirror,readonly", "--env HTTPS_PROXY ",
		"--entrypoint /ralph/bin/ralph node:22 work --socket /ralph/job/job"} {
		if !strings.Contains(line, want) {
			t.Errorf("%s\nlacks %s", line, want)
		}
	}
	for _, never := range []string{"secret", "TOKEN", "docker.sock", "privileged ", "SYS_ADMIN", "SYS_PTRACE"} {
		if strings.Contains(line, never) {
			t.Errorf("%s\nhas %s", line, never)
		}
	}
	if n := strings.Count(line, "type=bind"); n != 3 || strings.Count(line, ",readonly") != n {
		t.Errorf("%d files of this machine are mounted: %s", n, line)
	}
	if got := slices.Index(args, "--cap-add"); got < 0 || strings.Count(line, "--cap-add") != len(rights) {
		t.Error(line)
	}
	if _, err := c.arguments("n", "/data/a,readonly=false", Job{Image: "i"}); err == nil {
		t.Error("a name with a comma is mounted")
	}
}

// TestImagesAreTried has a row for each way in which an engine, or an image, fails whoever wants a container of it. The
// engine is a program that ends as docker does.
func TestImagesAreTried(t *testing.T) {
	for _, c := range []struct {
		name, engine, want string
		unfit              bool
	}{
		{"none", "", "neither docker nor podman is installed", true},
		{"it does not answer", `echo "Cannot connect to the Docker daemon" >&2; exit 1`, "does not answer; start it", false},
		{"no image", `case "$1" in image) exit 1;; pull) echo "pull access denied" >&2; exit 1;; esac`,
			"the image node:22 is not on this server, and docker cannot pull it: docker pull: pull access denied. Name one", true},
		{"it builds, and does not run", `case "$1" in run) echo "setting rlimit type 7: operation not permitted" >&2; exit 126;; esac`,
			"docker cannot run a container of the image node:22: docker run: setting rlimit type 7: operation not permitted.", true},
		{"no agent", `case "$1" in run) echo git; echo claude;; esac`, "the image node:22 lacks git, claude: add it", true},
		{"all is well", `exit 0`, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.engine != "" {
				program := "#!/bin/sh\n" + c.engine + "\n"
				if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(program), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			e := &Containers{Process: Process{Program: "/opt/ralph", Environ: []string{"PATH=" + dir}},
				Sockets: filepath.Join(dir, "jobs")}
			err := e.Ready(t.Context(), "node:22", "claude")
			var unfit *UnfitError
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) ||
				errors.As(err, &unfit) != c.unfit {
				t.Errorf("%v, want %s", err, c.want)
			}
			if _, known := e.known("node:22"); known != (err == nil) {
				t.Errorf("%v is known: %v", err, known)
			}
		})
	}
}

// TestJobSocket: the first who comes has the job, and nobody after that finds it. What comes to the socket of the models
// is carried.
func TestJobSocket(t *testing.T) {
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a model") }))
	defer models.Close()
	ours, theirs, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	s, err := openSockets(filepath.Join(t.TempDir(), strings.Repeat("long", 40)), theirs)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.carry(models.Listener.Addr()); err != nil {
		t.Fatal(err)
	}
	t.Chdir(s.dir) // as short as it is in a container
	if info, err := os.Stat("."); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is for others, too: %v", info.Mode())
	}
	conn, err := net.Dial("unix", jobSocket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.WriteString("order\n"); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 6)
	if _, err := io.ReadFull(conn, said); err != nil || string(said) != "order\n" {
		t.Errorf("%q, %v", said, err)
	}
	if second, err := net.Dial("unix", jobSocket); err == nil {
		_ = second.Close()
		t.Error("a second one is connected")
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", modelsSocket)
		},
	}}
	resp, err := client.Get("http://ralph.invalid/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); string(text) != "a model" {
		t.Errorf("%s", text)
	}
	_ = ours.Close() // the server is killed
	if _, err := conn.Read(said); !errors.Is(err, io.EOF) {
		t.Errorf("the process does not see that its server is gone: %v", err)
	}
	_ = conn.Close()
	s.close()
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}
