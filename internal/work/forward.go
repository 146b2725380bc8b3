package work

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// Forward is an address that a process in a container opens for its agents: what comes there goes to a socket.
type Forward struct {
	Socket  string `json:"socket"`  // a path
	Address string `json:"address"` // "127.0.0.1:40123", where the server itself has it
}

// open listens at the address until the process ends.
func (f *Forward) open() error {
	if f == nil {
		return nil
	}
	l, err := net.Listen("tcp4", f.Address)
	if err != nil {
		return fmt.Errorf("opening the way to the models: %w", err)
	}
	go Serve(l, "unix", f.Socket)
	return nil
}

// mostForwarded is how many connections are carried at once.
const mostForwarded = 256

// Serve carries what comes to a listener on to an address, until the listener is closed.
func Serve(l net.Listener, network, address string) {
	room := make(chan struct{}, mostForwarded)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		room <- struct{}{}
		go func() {
			defer func() { <-room }()
			to, err := net.Dial(network, address) //nolint:noctx // it is of this machine
			if err != nil {
				_ = conn.Close()
				return
			}
			Join(conn, to)
		}()
	}
}

// Join carries what each of two connections says to the other, until both have nothing to say, and closes them.
func Join(a, b net.Conn) {
	defer a.Close()
	defer b.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			if half, ok := way[1].(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
