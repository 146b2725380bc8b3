package fake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Delivered is what a run that is done has left to someone who has nothing but a clone.
type Delivered struct {
	From  string   // the repository, a path
	Env   []string // what the setup and the checks are run with
	Setup string   // empty: what the settings in the commit say
	Dir   string   // the working directory; empty: what the settings in the commit say
	Given string   // the clone that paths are taken from which the run says its checks had besides the commit
	State loop.State
}

// Passes clones the run's last commit, runs the setup there and the checks that have passed in the run, and says which
// of them fails.
func (d Delivered) Passes() error {
	s := d.State
	last := s.Last()
	if last == nil || s.Tip == "" {
		return nil // of a run that commits nothing
	}
	dir, err := os.MkdirTemp("", "ralph-delivered-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone := filepath.Join(dir, "clone")
	for _, args := range [][]string{{"clone", "-q", "--no-checkout", "--shared", d.From, clone},
		{"-C", clone, "checkout", "-q", s.Tip}} {
		if out, err := d.run(dir, "git", args...); err != nil {
			return fmt.Errorf("cloning the commit %.12s: %w\n%s", s.Tip, err, out)
		}
	}
	var set struct {
		Setup            string `json:"setup"`
		WorkingDirectory string `json:"workingDirectory"`
	}
	if text, err := os.ReadFile(filepath.Join(clone, ".ralph", "settings.json")); err == nil {
		_ = json.Unmarshal(text, &set) // a test may have broken it
	}
	for _, given := range s.Start.Shared {
		if out, err := d.run(clone, "cp", "-R", filepath.Join(d.Given, given.Path),
			filepath.Join(clone, given.Path)); err != nil {
			return fmt.Errorf("giving %s: %w\n%s", given.Path, err, out)
		}
	}
	work := filepath.Join(clone, cmp.Or(d.Dir, set.WorkingDirectory))
	if setup := cmp.Or(d.Setup, set.Setup); setup != "" {
		if out, err := d.run(work, "sh", "-c", setup); err != nil {
			return fmt.Errorf("in a fresh clone of the commit %.12s, the setup %q fails: %w\n%s", s.Tip, setup, err, out)
		}
	}
	for _, v := range last.Verdicts {
		// one that goes by another name than its command is not known here
		if !v.Pass || v.Skipped != "" || !slices.Contains(s.Start.Checks, v.Check) {
			continue
		}
		out, err := d.run(work, "sh", "-c", v.Check)
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != v.Exit) || err == nil && v.Exit != 0 {
			return fmt.Errorf("in a fresh clone of the commit %.12s, %q does not end with exit code %d: %w\n%s", s.Tip, v.Check,
				v.Exit, cmp.Or(err, errors.New("exit code 0")), out)
		}
	}
	return nil
}

func (d Delivered) run(dir, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(slices.Clone(d.Env), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// DerivedPlan is an agent's answer that is a plan with one story, as JSON text.
func DerivedPlan(prd, branch string, commands ...string) string {
	list, _ := json.Marshal(append([]string{}, commands...))
	doc, _ := json.Marshal(prd)
	return `{"questions": [], "prd": ` + string(doc) + `, "tasks": {"project": "p", "branchName": "` + branch +
		`", "description": "Prices in euros", "verifyCommands": ` + string(list) +
		`, "userStories": [{"id": "US-001", "title": "Euros", "description": "d", "acceptanceCriteria": ["a"], "priority": 1, "passes": false, ` +
		`"reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}]}}`
}
