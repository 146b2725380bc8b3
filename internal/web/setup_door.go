package web

import (
	"sync"
	"time"
)

// setupTime is how long the setup is open to whoever has shown the code.
const setupTime = time.Hour

// setupDoor remembers the one browser that has shown the setup code.
type setupDoor struct {
	clock func() time.Time
	mu    sync.Mutex
	token string
	until time.Time
}

// open lets one browser in, and whoever was in before out.
func (d *setupDoor) open() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.token, d.until = random(), d.clock().Add(setupTime)
	return d.token
}

func (d *setupDoor) holds(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return same(d.token, token) && d.clock().Before(d.until)
}
