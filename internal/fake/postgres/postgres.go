// Package postgres starts a real PostgreSQL for tests: as a user without rights, on a socket in a directory of its own.
// The server ends with the process that asked for it, however that process ends, and takes its directory along.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// patience is how long a busy machine may take to start or to stop a server.
const patience = 2 * time.Minute

// Start gives the address of a new, empty database, "postgres://postgres@/test_…?host=/tmp/…". All tests of a process
// share one server, which loses what it has when the machine does: fsync is off. The database is removed with the test.
// A test is skipped where no PostgreSQL is installed.
func Start(t testing.TB) string {
	t.Helper()
	server, err := common()
	if err != nil {
		unavailable(t, err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	if err := server.ask("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.ask("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return server.address(name)
}

// common starts the server that the tests of this process share.
var common = sync.OnceValues(func() (*Server, error) { return start("fsync=off", "synchronous_commit=off") })

// Server is a PostgreSQL of one test, which the test may stop and start again.
type Server struct {
	URL string // of its database "postgres"

	dir      string
	settings []string
	guard    *exec.Cmd
	life     io.WriteCloser // the server runs for as long as this is open
}

// New starts a server for this test alone, with settings such as "max_connections=5". Unlike Start's it syncs what it
// commits. A test is skipped where no PostgreSQL is installed.
func New(t testing.TB, settings ...string) *Server {
	t.Helper()
	server, err := start(settings...)
	if err != nil {
		unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := server.end(""); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Stop ends the server and all its connections, and keeps its data. Start it again with Start.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.end("keep"); err != nil {
		t.Fatal(err)
	}
}

// Start starts a server that was stopped, at the same address and with the same data.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
}

// absent says that there is nothing to start.
type absent struct{ error }

// unavailable ends a test: where nothing is installed, without blaming it.
func unavailable(t testing.TB, err error) {
	t.Helper()
	need.That(t, "postgres", !errors.As(err, new(absent)))
	t.Fatal(err)
}

// program finds a program of PostgreSQL, which Debian keeps out of the PATH.
func program(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		slices.Sort(found)
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", absent{fmt.Errorf("no PostgreSQL is installed (apt-get install postgresql): %w", err)}
	}
	return path, nil
}

// unprivileged makes the command run as a user without rights when we are root, whom PostgreSQL refuses, and gives that
// user the directory.
func unprivileged(dir string, command ...string) (*exec.Cmd, error) {
	if os.Getuid() != 0 {
		return exec.Command(command[0], command[1:]...), nil
	}
	name := "postgres"
	if _, err := user.Lookup(name); err != nil {
		name = "nobody"
	}
	if out, err := exec.Command("chown", name, dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("giving %s to %s: %w: %s", dir, name, err, out)
	}
	cmd := exec.Command("runuser", append([]string{"-u", name, "--"}, command...)...)
	cmd.Dir = dir // the one of the tests may be closed to that user
	return cmd, nil
}

// start makes the files of a server and starts it.
func start(settings ...string) (*Server, error) {
	initdb, err := program("initdb")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, settings: settings}
	s.URL = s.address("postgres")
	cmd, err := unprivileged(dir, initdb, "--pgdata="+filepath.Join(dir, "data"), "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if err != nil {
		return nil, err
	}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	return s, nil
}

// guarding starts the server ($2 and the rest) and ends it when its standard input ends: with the process that holds
// the other end. What it reads before says that the data stays.
const guarding = `
trap '' INT HUP
dir=$1
shift
"$@" >>"$dir/log" 2>&1 </dev/null &
word=
read -r word
if [ "$word" = keep ]; then kill -INT $!; else kill -QUIT $!; fi
wait $!
if [ "$word" != keep ]; then rm -rf "$dir"; fi
exit 0 # the directory itself may be one that only our parent can remove
`

// begin starts the server and waits until it answers.
func (s *Server) begin() error {
	path, err := program("postgres")
	if err != nil {
		return err
	}
	command := []string{"sh", "-c", guarding, "guard", s.dir, path, "-D", filepath.Join(s.dir, "data"),
		"-c", "listen_addresses=", "-c", "unix_socket_directories=" + s.dir, "-c", "shared_buffers=32MB",
		"-c", "max_connections=200"}
	for _, setting := range s.settings {
		command = append(command, "-c", setting)
	}
	if s.guard, err = unprivileged(s.dir, command...); err != nil {
		return err
	}
	if s.life, err = s.guard.StdinPipe(); err != nil {
		return err
	}
	if err := s.guard.Start(); err != nil {
		return err
	}
	until := time.Now().Add(patience)
	for {
		err := s.ask("SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(until) {
			said, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("PostgreSQL does not answer after %v: %w\n%s", patience, err, said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// end ends the server, with its data unless the word is "keep".
func (s *Server) end(word string) error {
	if s.life == nil { // stopped already
		return os.RemoveAll(s.dir)
	}
	_, err := io.WriteString(s.life, word+"\n")
	s.life.Close()
	s.life = nil
	if err != nil {
		return err
	}
	if err := s.guard.Wait(); err != nil || word == "keep" {
		return err
	}
	return os.RemoveAll(s.dir)
}

// address is where a database of the server is found.
func (s *Server) address(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// ask has the server execute one statement.
func (s *Server) ask(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	_, err = connection.Exec(ctx, statement)
	return err
}
