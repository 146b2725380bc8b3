package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// RunnersPath is where a server has the jobs that runners do: each below it under its request.
const RunnersPath = "/runners/"

const (
	againTime = 5 * time.Minute  // how long a job on a runner looks for its server
	dialTime  = 30 * time.Second // and how long it waits for an answer
	dialPause = 2 * time.Second
	pingTime  = 20 * time.Second // a connection over which nothing comes for longer is none
)

// Runner is a job of GitHub Actions that does a job of a server.
type Runner struct {
	Server  string // "https://ralph.example.com"
	Request string // what the server calls the job
	// Token is a new token by which GitHub Actions says who we are; the audience is the server.
	Token func(ctx context.Context, audience string) (string, error)
}

// Run does the job, as Run does one of this machine. ErrGone is of a server that wants nothing of us.
func (r Runner) Run(ctx context.Context, environ []string, clock func() time.Time) error {
	conn, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return run(ctx, conn, func() (net.Conn, error) { return r.Connect(context.Background()) }, environ, clock)
}

// Connect connects to the server, and goes on trying for a while. ErrGone says that it is useless.
func (r Runner) Connect(ctx context.Context) (net.Conn, error) {
	for begun := time.Now(); ; time.Sleep(dialPause) {
		conn, err := r.dial(ctx)
		if err == nil || errors.Is(err, ErrGone) || time.Since(begun) >= againTime || ctx.Err() != nil {
			return conn, err
		}
	}
}

// goneError is of a server that wants nothing of this job.
type goneError struct{ error }

func (goneError) Is(target error) bool { return target == ErrGone }

// dial tries to connect once. An error that is final is ErrGone.
func (r Runner) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	server := strings.TrimSuffix(r.Server, "/")
	token, err := r.Token(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("getting this job's OIDC token: %w; the job needs the permission id-token: write", err)
	}
	c, answer, err := websocket.Dial(ctx, server+RunnersPath+r.Request, &websocket.DialOptions{ //nolint:bodyclose // of a handshake it is never to be closed
		HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	switch {
	case err == nil:
		return alive(c), nil
	case answer == nil:
		return nil, fmt.Errorf("connecting to %s: %w", server, err)
	}
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // without it the status is enough
	why := fmt.Errorf("%s answers %s: %s", server, answer.Status, strings.TrimSpace(string(said)))
	if answer.StatusCode == http.StatusConflict || answer.StatusCode == http.StatusGone {
		return nil, goneError{why}
	}
	return nil, why
}

// AcceptRunner makes a request the connection of a job on a runner. The error was answered.
func AcceptRunner(w http.ResponseWriter, r *http.Request) (net.Conn, error) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return nil, err
	}
	return alive(c), nil
}

// alive is a connection that ends when the other side has gone without a word.
func alive(c *websocket.Conn) net.Conn {
	go func() {
		for {
			time.Sleep(pingTime)
			ctx, cancel := context.WithTimeout(context.Background(), pingTime)
			err := c.Ping(ctx)
			cancel()
			if err != nil {
				_ = c.CloseNow()
				return
			}
		}
	}()
	return websocket.NetConn(context.Background(), c, websocket.MessageBinary)
}
