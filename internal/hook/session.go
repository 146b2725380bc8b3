package hook

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// The files that keep what a session was told, and how often it was kept from stopping. They lie in the
// directory for temporary files; what follows is the session's id.
const (
	alertsName = "claude-context-alerts-"
	blocksName = "ralph-stop-blocks-"
)

// mostID is how much of a session's id a file's name takes.
const mostID = 128

// AlertsFile names the file of the thresholds that a session was told of.
func AlertsFile(session string) string { return alertsName + fileID(session) }

// BlocksFile names the file that counts how often a session was kept from stopping.
func BlocksFile(session string) string { return blocksName + fileID(session) }

// fileID is a session's id as a part of a file's name: letters, digits, dots, underscores and hyphens stay. What is
// changed by that gets a hash, so that two sessions never share a file. A session without an id is "unknown".
func fileID(session string) string {
	if session == "" {
		return "unknown"
	}
	kept := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-", r)) {
			return r
		}
		return -1
	}, session)
	if kept == session && len(kept) <= mostID {
		return kept
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(session))
	return fmt.Sprintf("%.*s-%016x", mostID, kept, hash.Sum64())
}

// MostBlocks is how often in a row a session is kept from stopping. Then it may: an agent that knows no bound of its
// own would go on for ever, and the harness judges what it leaves anyhow.
const MostBlocks = 8

// ReadBlocks reads how often a session was kept from stopping; what is no number is none.
func ReadBlocks(content []byte) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Blocks is what ReadBlocks reads.
func Blocks(n int) []byte { return []byte(strconv.Itoa(n) + "\n") }
