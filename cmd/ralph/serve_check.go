package main

import (
	"cmp"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// check refuses flags that no server could keep to.
func (c *serveStart) check() error {
	_, port, err := net.SplitHostPort(c.Listen)
	if _, number := strconv.ParseUint(port, 10, 16); err != nil || number != nil {
		return invalid.Errorf("invalid --listen %q: must be an address with a port, such as 127.0.0.1:8080", c.Listen)
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"--slots", c.Slots}, {"--per-installation", c.PerInstallation}, {"--mirrors", c.Mirrors}} {
		if n.value < 0 {
			return invalid.Errorf("invalid %s \"%d\": must be 0 or more", n.flag, n.value)
		}
	}
	for kind, days := range map[string]int{"deliveries": 30, "records": 30, "runs": 365, "audit": 365} {
		if _, said := c.Keep[kind]; !said {
			c.Keep[kind] = days
		}
	}
	for kind, days := range c.Keep {
		if days < 1 || len(c.Keep) > 4 {
			return invalid.Errorf("invalid --keep %s=%d: must be days from 1 on of deliveries, records, runs, audit", kind, days)
		}
	}
	switch {
	case c.Drain < 0 || c.Drain > 24*time.Hour:
		return invalid.Errorf("invalid --drain %q: must be a duration from 0s to 24h, such as 4m", c.Drain)
	case strings.TrimSpace(c.TriggerLabel) == "":
		return invalid.Errorf("invalid --trigger-label \"\": must be the name of a label, such as ralph")
	case len(strings.Fields(c.TriggerPhrase)) != 1:
		return invalid.Errorf("invalid --trigger-phrase %q: must be one word, such as /ralph", c.TriggerPhrase)
	}
	return nil
}

// keptFromAgents refuses a place for keys that agents could read. Those of root work as someone else; those of anyone
// else work as the same user, and sandboxes hide that user's home.
func keptFromAgents(data, home string, root bool) error {
	if below, err := filepath.Rel(home, data); root || home != "" && err == nil && filepath.IsLocal(below) {
		return nil
	}
	return invalid.Errorf("--data %s is not below HOME, so agents that work as this user could read its keys: name a "+
		"directory below %s, or set HOME for the server", data, cmp.Or(home, "HOME"))
}

// keyKeptFromAgents refuses a key of the App that agents of the same user could read. Sandboxes hide that user's home
// and places for what is mounted, and nothing else that the user may read.
func keyKeptFromAgents(file, home string, root bool) error {
	at, err := filepath.EvalSymlinks(file)
	if err != nil {
		return invalid.Errorf("RALPH_APP_PRIVATE_KEY_FILE: %w", err)
	}
	for _, hidden := range []string{home, "/run", "/mnt", "/media"} {
		if real, err := filepath.EvalSymlinks(hidden); err == nil {
			hidden = real
		}
		below, err := filepath.Rel(hidden, at)
		if root || hidden != "" && err == nil && filepath.IsLocal(below) {
			return nil
		}
	}
	return invalid.Errorf("RALPH_APP_PRIVATE_KEY_FILE is %s, which agents that work as this user could read: put the "+
		"file below %s or /run", file, cmp.Or(home, "HOME"))
}
