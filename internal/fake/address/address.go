// Package address finds addresses for servers that tests start.
package address

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Free is an address of this machine at which no one listens, for a process: "127.0.0.1:12345". Systems do not hand its
// port out to callers that want any port.
func Free() (address string, err error) {
	for range 100 {
		address = fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		var listener net.Listener
		if listener, err = net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", fmt.Errorf("looking for a free port: %w", err)
}
