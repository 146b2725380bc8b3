package engine

import "testing"

// TestUnreached: a command that failed is told which host to allow, when its output names one that the sandbox refused.
func TestUnreached(t *testing.T) {
	const cargo = "cargo could not reach crates.corp.example from the sandbox: add it to the setting sandboxNetwork"
	for _, c := range []struct {
		name            string
		refused         []string
		command, output string
		want            string
	}{
		{"a registry", []string{"a.example", "crates.corp.example"}, "cargo test --workspace",
			"error: failed to download from `https://crates.corp.example/config.json`\n" +
				"  [56] CONNECT tunnel failed, response 403\n", cargo},
		{"at the end of a sentence", []string{"crates.corp.example"}, "CI=1 cargo test", "cannot ask crates.corp.example.\n",
			cargo},
		{"with its port", []string{"npm.corp.example:8081"}, "npm ci", "npm error network npm.corp.example:8081 403\n",
			"npm could not reach npm.corp.example:8081 from the sandbox: add it to the setting sandboxNetwork"},
		{"another host", []string{"crates.corp.example"}, "cargo test", "at other.example", ""},
		{"a longer name", []string{"corp.example"}, "cargo test",
			"crates.corp.example, corp.example.com, corp.example-1", ""},
		{"nothing was refused", nil, "cargo test", "crates.corp.example", ""},
	} {
		if got := unreached(c.refused, c.command, c.output); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	failed := &setupError{command: "npm ci", how: "failed with exit code 1", unreached: "npm could not reach x"}
	if said := failed.summary(); said != `the setup command "npm ci" failed with exit code 1; npm could not reach x` {
		t.Error(said)
	}
}
