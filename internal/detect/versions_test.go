package detect

import "testing"

// TestUnchosen: what managers of versions say when no version of a tool is there, word for word.
func TestUnchosen(t *testing.T) {
	for _, c := range []struct{ output, lacks string }{
		{"pyenv: pytest: command not found\n\nThe `pytest' command exists in these Python versions:\n  3.11.4\n",
			"pyenv has no pytest"},
		{"rbenv: version `3.3.0' is not installed (set by /w/.ruby-version)\n", "rbenv has no 3.3.0"},
		{"No version is set for command node\nConsider adding one of the following versions in your config file at " +
			"/w/.tool-versions\nnodejs 20.1.0\n", "asdf has no node"},
		{"No preset version installed for command python\nPlease install a version by running one of the following:\n",
			"asdf has no python"},
		{"unknown command: node. Perhaps you have to reshim?\n", "asdf has no node"},
		{"mise ERROR No version is set for shim: node\n", "mise has no node"},
		{"N/A: version \"v99.0.0 -> N/A\" is not yet installed.\n\nYou need to run \"nvm install\" to install it before " +
			"using it.\n", "nvm has no v99.0.0"},
		{"error: Requested version v18.x.x is not currently installed\n", "the version manager has no v18.x.x"},
		{"Volta error: Node is not available.\n", "volta has no Node"},
		{"error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no " +
			"default is configured.\nhelp: run 'rustup default stable'\n", "rustup has no cargo"},
		{"error: no override and no default toolchain set\n", "rustup has no toolchain"},
		{"error: toolchain 'nightly-2024-01-01-x86_64-unknown-linux-gnu' is not installed\n",
			"rustup has no nightly-2024-01-01-x86_64-unknown-linux-gnu"},
		{"A compatible .NET SDK was not found.\n\nRequested SDK version: 9.0.100\n", "dotnet has no SDK"},
		{"No .NET SDKs were found.\n", "dotnet has no version"},
		{"pyenv: version `$(x)' is not installed\n", "pyenv has no version"},
		{"--- FAIL: TestPyenv\n    x_test.go:1: got \"pyenv: pytest: command not found\"\n", ""},
		{"pyenv: $(x): command not found\n", ""},
		{"FAIL: version `1.2' is not installed\n", ""},
	} {
		want := ""
		if c.lacks != "" {
			want = c.lacks + " that it can run here: install one before ralph or in the setting setup"
		}
		if _, got := unchosen(c.output); got != want || Lacking(c.output) != (want != "") {
			t.Errorf("%q: %q, want %q", c.output, got, want)
		}
	}
}
