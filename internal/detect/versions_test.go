package detect

import "testing"

// TestUnchosen: what managers of versions say when no version of a tool is there, word for word.
func TestUnchosen(t *testing.T) {
	for _, c := range []struct{ output, tool, advice string }{
		{"pyenv: pytest: command not found\n\nThe `pytest' command exists in these Python versions:\n  3.11.4\n", "pytest",
			"pyenv has no pytest for the version that it chooses here: install it for that one, or choose another with `pyenv " +
				"global`"},
		{"pyenv: version `3.12.1' is not installed (set by /w/.python-version)\n", "3.12.1",
			"pyenv chooses version 3.12.1, which is not installed: run `pyenv install 3.12.1` before ralph or in the setting " +
				"setup"},
		{"rbenv: bundle: command not found\n\nThe `bundle' command exists in these Ruby versions:\n  3.2.2\n", "bundle",
			"rbenv has no bundle for the version that it chooses here: install it for that one, or choose another with `rbenv " +
				"global`"},
		{"rbenv: version `3.3.0' is not installed (set by /w/.ruby-version)\n", "3.3.0",
			"rbenv chooses version 3.3.0, which is not installed: run `rbenv install 3.3.0` before ralph or in the setting setup"},
		{"nodenv: npm: command not found\n", "npm", "nodenv has no npm for the version that it chooses here: install it " +
			"for that one, or choose another with `nodenv global`"},
		{"No version is set for command node\nConsider adding one of the following versions in your config file at " +
			"/w/.tool-versions\nnodejs 20.1.0\n", "node",
			"asdf has no version of node that it could run here: run `asdf install` before ralph or in the setting setup"},
		{"No preset version installed for command python\nPlease install a version by running one of the following:\n",
			"python", "asdf has no version of python that it could run here: run `asdf install` before ralph or in the " +
				"setting setup"},
		{"unknown command: node. Perhaps you have to reshim?\n", "node",
			"asdf does not know node: run `asdf install` and `asdf reshim` before ralph or in the setting setup"},
		{"mise ERROR No version is set for shim: node\n", "node",
			"mise has no version of node that it could run here: run `mise install` before ralph or in the setting setup"},
		{"N/A: version \"v99.0.0 -> N/A\" is not yet installed.\n\nYou need to run \"nvm install\" to install it before " +
			"using it.\n", "v99.0.0", "nvm is to use node v99.0.0, which is not installed: run `nvm install` before ralph or " +
			"in the setting setup"},
		{"error: Requested version v18.x.x is not currently installed\n", "v18.x.x",
			"the version v18.x.x is not installed: install it before ralph or in the setting setup"},
		{"Volta error: Node is not available.\n", "Node",
			"volta has no Node: run `volta install` before ralph or in the setting setup"},
		{"error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no " +
			"default is configured.\nhelp: run 'rustup default stable'\n", "cargo", "rustup has no default toolchain, so " +
			"there is no cargo: run `rustup default stable` before ralph or in the setting setup"},
		{"error: no override and no default toolchain set\n", "rustup",
			"rustup has no default toolchain: run `rustup default stable` before ralph or in the setting setup"},
		{"error: toolchain 'nightly-2024-01-01-x86_64-unknown-linux-gnu' is not installed\n",
			"nightly-2024-01-01-x86_64-unknown-linux-gnu", "rustup is to use the toolchain " +
				"nightly-2024-01-01-x86_64-unknown-linux-gnu, which is not installed: run `rustup toolchain install " +
				"nightly-2024-01-01-x86_64-unknown-linux-gnu` before ralph or in the setting setup"},
		{"A compatible .NET SDK was not found.\n\nRequested SDK version: 9.0.100\n", "dotnet",
			"dotnet has no SDK of the required version: install it before ralph or in the setting setup"},
		{"sh: 1: pytest: not found\n", "", ""},
		{"--- FAIL: TestPyenv\n    x_test.go:1: got \"pyenv: pytest: command not found\"\n", "", ""},
		{"pyenv: $(x): command not found\n", "", ""},
		{"FAIL: version `1.2' is not installed\n", "", ""},
		{"", "", ""},
	} {
		tool, advice := Unchosen(c.output)
		if tool != c.tool || advice != c.advice {
			t.Errorf("%q: %q, %q, want %q, %q", c.output, tool, advice, c.tool, c.advice)
		}
		if Lacking(c.output) != (c.tool != "") {
			t.Errorf("%q: lacking is %v", c.output, c.tool == "")
		}
		if said := LackAdvice("make test", c.output, Site{}); c.advice != "" && said != c.advice {
			t.Errorf("%q: the advice is %q", c.output, said)
		}
	}
}
