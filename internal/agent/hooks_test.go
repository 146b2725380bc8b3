//go:build unix

package agent_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/proc"
)

const (
	ourHooks   = `{"hooks":{"Stop":[{"hooks":[{"command":"'/a b/ralph' hook stop","timeout":60,"type":"command"}]}]}}`
	theirHooks = `{"hooks":{"Stop":[{"hooks":[{"command":"mine","type":"command"}]}]},"model":"opus"}`
)

// noBox lets everything through.
type noBox struct{}

func (noBox) Enter(s proc.Spec) (proc.SandboxedCommand, error) {
	s.Box = nil
	return proc.SandboxedCommand{Spec: s, Leave: func() {}}, nil
}

func TestHooksThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", `[]`, `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`} {
		if _, err := agent.New(agent.Options{Command: "sh", Rights: agent.Rights{Hooks: []byte(text)}}); err == nil ||
			!strings.Contains(err.Error(), "reading the hooks for sh") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
