package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
)

// agreedFile remembers, among what ralph keeps for a user, that runs without a sandbox are needed on this machine.
const agreedFile = "no-sandbox"

// AgreeToNone asks the person, once on a machine, whether to run where no sandbox works. The error is why nothing is
// run. Where no one can be asked, the line that the sandbox logs has to do.
func (s *Session) AgreeToNone(why string) error {
	if s.Ask == nil {
		return nil
	}
	at := ""
	if state, err := StateDir(runtime.GOOS, s.Parent); err == nil {
		if at = filepath.Join(state, "ralph", agreedFile); engine.Exists(at) {
			return nil
		}
	}
	answer, err := s.Ask("No sandbox works here (" + why + "). Agents and checks could read and write all that you can, " +
		"your keys too, and speak to every host.\nRun without a sandbox on this machine? [y/N] ")
	if err != nil {
		return fmt.Errorf("no answer whether to run without a sandbox: %w", err)
	}
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return errors.New("nothing was run, since no sandbox works here (" + why + "); install one of them, or write " +
			`"sandbox": "off" into the settings`)
	}
	if at != "" { // otherwise the next run asks again
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err == nil {
			_ = os.WriteFile(at, []byte("asked and agreed: ralph runs without a sandbox where none works\n"), 0o600)
		}
	}
	return nil
}
