package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// TestMain stores when the tests have started it for that.
func TestMain(m *testing.M) {
	if where := os.Getenv("RALPH_TEST_STORE"); where != "" {
		storeUntilKilled(where)
	}
	if dir := os.Getenv("RALPH_TEST_FULL"); dir != "" {
		fillTheDisk(dir)
	}
	os.Exit(m.Run())
}

// storeUntilKilled prints what is acknowledged, from several goroutines at once.
func storeUntilKilled(where string) {
	s, err := Open(context.Background(), Options{Dir: where})
	if err != nil {
		panic(err)
	}
	for worker := range 4 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, i)
				if _, err := s.Deliver(context.Background(), delivery(id)); err != nil {
					panic(err)
				}
				records := []Record{{Number: 1, Body: []byte("1")}, {Number: 2, Body: []byte("2")}, {Number: 3, Body: []byte("3")}}
				if err := s.Append(context.Background(), id, records); err != nil {
					panic(err)
				}
				os.Stdout.WriteString(id + "\n")
			}
		}()
	}
	select {}
}

// TestKilled: a process that is killed while it stores has lost nothing that it has acknowledged, and stored nothing by
// halves. The next one has the file at once.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	ok(t, w.Close())
	where := w.options.Dir
	var acknowledged []string
	for round := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "RALPH_TEST_STORE="+where)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			acknowledged = append(acknowledged, lines.Text())
			if n == 30+round*7 {
				ok(t, cmd.Process.Kill()) // what it has printed before is still read
			}
		}
		cmd.Wait()
	}
	w.open(t)
	ctx := within(t)
	for _, id := range acknowledged {
		if _, err := w.Delivery(ctx, id); err != nil {
			t.Error(id, err)
		}
		if n := len(got[[]Record](t)(w.Records(ctx, id, 0, 0))); n != 3 {
			t.Error(id, n)
		}
	}
	if len(acknowledged) < 90 {
		t.Error("only", len(acknowledged), "were acknowledged")
	}
	const query = "SELECT run FROM ralph_records GROUP BY run HAVING count(*) <> 3"
	if halves := got[[]string](t)(list[string](ctx, w.Store, "", query)); halves != nil {
		t.Error("stored by halves:", halves)
	}
}

// TestWhoseErrorItIs: only the database's trouble is ErrUnavailable.
func TestWhoseErrorItIs(t *testing.T) {
	w := newWorld(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Deliver(gone, delivery("a")); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		t.Error("whoever asked has gone:", err)
	}
	for _, statement := range []string{"SELEC", "INSERT INTO ralph_secrets (name) VALUES (NULL)"} {
		if err := w.exec(within(t), "", statement); err == nil || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := w.write(within(t), "", func(*transaction) error {
		if _, err := w.Deliver(late, delivery("b")); !errors.Is(err, ErrUnavailable) {
			t.Error("it waits for its turn too long:", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// fillTheDisk stores until the disk is full, and then says so.
func fillTheDisk(dir string) {
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		panic(err)
	}
	stored := 0
	for ; ; stored++ {
		d := delivery(strconv.Itoa(stored))
		d.Payload = make([]byte, 100_000)
		if _, err = s.Deliver(context.Background(), d); err != nil {
			break
		}
	}
	_, again := s.Deliver(context.Background(), delivery("again"))
	kept, listed := s.Deliveries(context.Background(), Filter{Limit: 1000})
	fmt.Printf("unavailable=%v again=%v kept=%v listed=%v %v\n", errors.Is(err, ErrUnavailable),
		again == nil || errors.Is(again, ErrUnavailable), len(kept) == stored || len(kept) == stored+1, listed == nil, err)
	os.Exit(0)
}
