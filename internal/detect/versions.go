package detect

import (
	"cmp"
	"fmt"
)

// managers are the ways in which programs that choose the version of a tool say that none is there that they could run:
// the tool is on PATH then, and cannot be run anyway. The groups are who says so, and what cannot be run.
var managers = []struct {
	pattern *pattern
	who     string // where the pattern has no such group
}{
	{lazy(`(?m)^(?P<who>(?:py|rb|nod|go|j|php|pl|tf)env): (?P<tool>[\w.+-]+): command not found\s*$`), ""},
	{lazy("(?m)^(?P<who>(?:py|rb|nod|go|j|php|pl|tf)env): version [`'](?P<tool>[^'\\n]{1,60})' is not installed"), ""},
	{lazy(`(?m)^(?:asdf: )?No (?:preset )?version (?:is set|installed) for command (?P<tool>[\w.+-]+)`), "asdf"},
	{lazy(`(?m)^(?:asdf: )?unknown command: (?P<tool>[\w.+-]+)\. Perhaps you have to reshim\?`), "asdf"},
	{lazy(`(?m)^mise ERROR No version is set for shim: (?P<tool>[\w.+-]+)`), "mise"},
	{lazy(`(?m)N/A: version "(?P<tool>[\w.+/-]+)(?: -> N/A)?" is not yet installed`), "nvm"},
	{lazy(`(?m)^error: (?:Requested version|Version) (?P<tool>[\w.+-]+) is not (?:currently )?installed`), "the version manager"},
	{lazy(`(?m)^Volta error: (?P<tool>[\w.+-]+) is not available`), "volta"},
	{lazy(`(?m)^error: rustup could not choose a version of (?P<tool>[\w.+-]+) to run`), "rustup"},
	{lazy(`(?m)^error: no (?:override and no )?default (?P<tool>toolchain) (?:is )?(?:set|configured)`), "rustup"},
	{lazy(`(?m)^error: toolchain '(?P<tool>[\w.+-]+)' is not installed`), "rustup"},
	{lazy(`(?m)^A compatible \.NET (?P<tool>SDK) was not found|^\s*No \.NET SDKs were found`), "dotnet"},
}

// unchosen says what a version manager lacks, by the output of a check that failed, and what to do; "" when none says so.
func unchosen(output string) (tool, advice string) {
	for _, m := range managers {
		found := m.pattern.FindStringSubmatch(output)
		if found == nil {
			continue
		}
		group := func(name string) string {
			if i := m.pattern.Regexp().SubexpIndex(name); i >= 0 && safeName(found[i]) {
				return found[i]
			}
			return ""
		}
		tool = cmp.Or(group("tool"), "version")
		return tool, fmt.Sprintf("%s has no %s that it can run here: install one before ralph or in the setting setup",
			cmp.Or(m.who, group("who")), tool)
	}
	return "", ""
}
