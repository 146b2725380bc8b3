package detect

import "strings"

// manager is a program that is in the place of a tool and looks for a version of it: the tool is on PATH, and
// cannot be run anyway.
type manager struct {
	pattern *pattern // its groups: who says so, and what cannot be run
	who     int      // group of the manager's name; 0: name
	name    string
	tool    int    // group of the tool or version; 0: the manager's own
	advice  string // what to do; %t is the tool, %m the manager
}

// managers are the ways in which version managers say that no version of a tool is there.
var managers = []manager{
	{pattern: lazy(`(?m)^((?:py|rb|nod|go|j|php|pl|tf)env): ([\w.+-]+): command not found\s*$`), who: 1, tool: 2,
		advice: "%m has no %t for the version that it chooses here: install it for that one, or choose another with `%m " +
			"global`"},
	{pattern: lazy("(?m)^((?:py|rb|nod|go|j|php|pl|tf)env): version [`']([^'\\n]{1,60})' is not installed"), who: 1,
		tool:   2,
		advice: "%m chooses version %t, which is not installed: run `%m install %t` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^(?:asdf: )?No (?:preset )?version (?:is set|installed) for command ([\w.+-]+)`), name: "asdf",
		tool:   1,
		advice: "asdf has no version of %t that it could run here: run `asdf install` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^(?:asdf: )?unknown command: ([\w.+-]+)\. Perhaps you have to reshim\?`), name: "asdf", tool: 1,
		advice: "asdf does not know %t: run `asdf install` and `asdf reshim` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^mise ERROR No version is set for shim: ([\w.+-]+)`), name: "mise", tool: 1,
		advice: "mise has no version of %t that it could run here: run `mise install` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)N/A: version "([\w.+/-]+)(?: -> N/A)?" is not yet installed`), name: "nvm", tool: 1,
		advice: "nvm is to use node %t, which is not installed: run `nvm install` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^error: (?:Requested version|Version) ([\w.+-]+) is not (?:currently )?installed`),
		name: "the version manager", tool: 1,
		advice: "the version %t is not installed: install it before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^Volta error: ([\w.+-]+) is not available`), name: "volta", tool: 1,
		advice: "volta has no %t: run `volta install` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^error: rustup could not choose a version of ([\w.+-]+) to run`), name: "rustup", tool: 1,
		advice: "rustup has no default toolchain, so there is no %t: run `rustup default stable` before ralph or in the " +
			"setting setup"},
	{pattern: lazy(`(?m)^error: no (?:override and no )?default toolchain (?:is )?(?:set|configured)`), name: "rustup",
		advice: "rustup has no default toolchain: run `rustup default stable` before ralph or in the setting setup"},
	{pattern: lazy(`(?m)^error: toolchain '([\w.+-]+)' is not installed`), name: "rustup", tool: 1,
		advice: "rustup is to use the toolchain %t, which is not installed: run `rustup toolchain install %t` before ralph " +
			"or in the setting setup"},
	{pattern: lazy(`(?m)^A compatible \.NET SDK was not found|^\s*No \.NET SDKs were found`), name: "dotnet",
		advice: "dotnet has no SDK of the required version: install it before ralph or in the setting setup"},
}

// VersionFiles are the files by which a project, or its user, chooses versions of tools.
var VersionFiles = []string{
	".tool-versions", ".python-version", ".ruby-version", ".node-version", ".nvmrc", ".go-version", ".java-version",
	".php-version", ".perl-version",
	".terraform-version", ".swift-version", ".sdkmanrc", "rust-toolchain", "rust-toolchain.toml", "global.json",
	"mise.toml", ".mise.toml", "package.json",
}

// Unchosen says what a version manager lacks, by the output of a check that failed, and what to do: "pyenv has no pytest for the version that
// it chooses here: …"; tool is plain, whatever the output is. Both are "" when none says so.
func Unchosen(output string) (tool, advice string) {
	for _, m := range managers {
		found := m.pattern.FindStringSubmatch(output)
		if found == nil {
			continue
		}
		who := m.name
		if m.who > 0 {
			who = found[m.who]
		}
		tool = who
		if m.tool > 0 {
			tool = found[m.tool]
		}
		if !safeName(tool) {
			tool = who
		}
		return tool, strings.NewReplacer("%t", tool, "%m", who).Replace(m.advice)
	}
	return "", ""
}
