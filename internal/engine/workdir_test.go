package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// TestWorkingDirectoryOfTheBase: it must be a directory before anybody is asked to do anything.
func TestWorkingDirectoryOfTheBase(t *testing.T) {
	t.Parallel()
	tree := repository(
		t,
		map[string]string{
			"web/app/x": "1", "file": "1", "link->web": "", "web/link->app": "",
			"web/link2->../..": "",
		},
	)
	for name, ok := range map[string]bool{
		"": true, "web": true, "web/app": true, "./web/": true, "web/../web": true,
		"none": false, "file": false, "link": false, "link/app": false, "web/link": false, "web/link2": false,
		"web/app/x": false,
	} {
		spec := &Spec{
			Place: Place{Tree: tree, Workspace: tree},
			Rules: Rules{Settings: config.Settings{WorkingDirectory: name}},
		}
		err := spec.inBase(context.Background(), tree.Base())
		if (err == nil) != ok ||
			err != nil && (!invalid.Is(err) || !strings.Contains(err.Error(), "not a directory of the base commit")) {
			t.Errorf("%q: %v", name, err)
		}
		if err := spec.CheckWorkingDir(); (err == nil) != ok {
			t.Errorf("%q as it lies there: %v", name, err)
		}
	}
}

// TestWorkingDirectoryThatShowsNothing: what another directory shows is nothing to check this one by.
func TestWorkingDirectoryThatShowsNothing(t *testing.T) {
	t.Parallel()
	tree := repository(
		t,
		map[string]string{
			"Makefile": "test:\n", "web/x": "1", "web/app/go.mod": "module x\n",
			"api/go.mod": "module y\n",
		},
	)
	spec := &Spec{
		Place: Place{Tree: tree, Workspace: tree},
		Rules: Rules{Settings: config.Settings{WorkingDirectory: "./web/"}},
	}
	_, err := DetectChecks(context.Background(), spec.Place, spec.Rules, t.Logf)
	if err == nil ||
		!strings.Contains(
			err.Error(),
			`no tests were found in the working directory "web"; below its top there is app/go.mod, which`,
		) {
		t.Error(err)
	}
}
