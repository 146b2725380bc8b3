package git

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// eachObject reads what git stores, one after another.
func (t *Tree) eachObject(ctx context.Context, ids string, read func(id, kind string, content []byte) error) error {
	return t.streamObjects(ctx, ids, func(id, kind string, from io.Reader) error {
		content, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		return read(id, kind, content)
	})
}

// streamObjects lets read read what git stores, one after another, each to its end.
func (t *Tree) streamObjects(ctx context.Context, ids string,
	read func(id, kind string, content io.Reader) error) error {
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, _, err := t.git.run(ctx, call{args: []string{"cat-file", "--batch"}, in: strings.NewReader(ids), out: in})
		in.CloseWithError(cmp.Or(err, io.EOF))
		done <- err
	}()
	from := bufio.NewReaderSize(out, 64<<10)
	var failed error
	for failed == nil {
		line, err := from.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		f := fields(line)
		if failed = err; failed == nil && len(f) == 3 {
			failed = streamObject(from, f, read)
		} else if failed == nil && !strings.HasSuffix(line, " missing\n") { // a submodule's commit is not here
			failed = fmt.Errorf("git answered %q", line)
		}
	}
	_ = out.CloseWithError(failed)
	if err := <-done; failed == nil {
		failed = err
	}
	if failed != nil {
		return fmt.Errorf("reading what is new: %w", failed)
	}
	return nil
}

func streamObject(from *bufio.Reader, head []string, read func(id, kind string, content io.Reader) error) error {
	size, err := strconv.ParseInt(head[2], 10, 64)
	if err != nil {
		return err
	}
	content := &io.LimitedReader{R: from, N: size}
	if err := read(head[0], head[1], content); err != nil {
		return err
	}
	if content.N > 0 { // it ended before
		return io.ErrUnexpectedEOF
	}
	_, err = from.Discard(1) // the line's end
	return err
}
