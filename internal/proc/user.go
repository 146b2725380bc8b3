package proc

import (
	"fmt"
	"os/user"
	"strconv"
	"strings"
)

// User is whom a process runs as.
type User struct {
	Name, Home string
	UID, GID   uint32
}

// LookupUser finds a user by name, or takes "uid:gid", which need not exist; its Home is then "/".
func LookupUser(name string) (*User, error) {
	if uid, gid, ok := strings.Cut(name, ":"); ok {
		u, err := strconv.ParseUint(uid, 10, 32)
		g, err2 := strconv.ParseUint(gid, 10, 32)
		if err != nil || err2 != nil {
			return nil, fmt.Errorf("%q is neither a user's name nor uid:gid", name)
		}
		return &User{Name: name, Home: "/", UID: uint32(u), GID: uint32(g)}, nil
	}
	found, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("looking up the user %q: %w", name, err)
	}
	u, err := strconv.ParseUint(found.Uid, 10, 32)
	g, err2 := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil || err2 != nil {
		return nil, fmt.Errorf("the user %q has no numeric id here", name)
	}
	return &User{Name: found.Username, Home: found.HomeDir, UID: uint32(u), GID: uint32(g)}, nil
}
