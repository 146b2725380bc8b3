package postgres

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	if os.Getenv("RALPH_TEST_POSTGRES_ALONE") != "" {
		server, err := start()
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(server.dir + "\n")
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

func query(t *testing.T, address, statement string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer connection.Close(ctx)
	var answer string
	err = connection.QueryRow(ctx, statement).Scan(&answer)
	return answer, err
}

func TestEachTestHasADatabase(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := Start(t)
			made := "WITH made AS (SELECT pg_catalog.lo_from_bytea(1, 'mine')) SELECT count(*)::text FROM made"
			if got, err := query(t, address, made); got != "1" { // which one database allows once
				t.Error(got, err)
			}
		})
	}
}

func TestStoppedAndStarted(t *testing.T) {
	server := New(t)
	if got, err := query(t, server.URL, "SHOW fsync"); got != "on" {
		t.Error(got, err)
	}
	server.Stop(t)
	if _, err := query(t, server.URL, "SELECT 'there'"); err == nil {
		t.Error("a stopped server answers")
	}
	server.Start(t)
	if got, err := query(t, server.URL, "SELECT 'there'"); got != "there" {
		t.Error(got, err)
	}
}

// TestEndsWithItsProcess: a killed test leaves neither a server nor a directory.
func TestEndsWithItsProcess(t *testing.T) {
	if _, err := program("postgres"); err != nil {
		unavailable(t, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RALPH_TEST_POSTGRES_ALONE=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	dir := string(line[:n-1])
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s is still there", dir)
		}
	}
}
