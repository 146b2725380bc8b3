package failure

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

var (
	rustcSays  = lazy(`^(error|warning)(?:\[(\w+)\])?: (.*)$`)
	ruffSays   = lazy(`^([A-Z]{1,5}\d{3,4}|invalid-syntax:?)(?: \[\*\])? (.*)$`)
	rustcPlace = lazy(`^\s*-->\s+(\S+?):(\d+):(\d+)$`)
)

// readRustc finds the diagnostics of rustc and of tools that print as it does: ruff.
func readRustc(lines []string, found *findings) {
	f := loop.Finding{}
	for _, line := range lines {
		if m := rustcSays.FindStringSubmatch(line); m != nil {
			f = loop.Finding{Level: m[1], Rule: m[2], Message: m[3]}
		} else if m := ruffSays.FindStringSubmatch(line); m != nil {
			f = loop.Finding{Rule: strings.TrimSuffix(m[1], ":"), Message: m[2]}
		} else if m := rustcPlace.FindStringSubmatch(line); m != nil && f.Message != "" {
			f.File, f.Line, f.Column = m[1], number(m[2]), number(m[3])
			found.add(f)
			f = loop.Finding{}
		}
	}
}

var eslintSays = lazy(`^\s+(\d+):(\d+)\s+(error|warning|✖|⚠)\s+(.+?)(?:\s{2,}(\S+))?$`)

// readESLint finds what eslint, stylelint and others list below the name of a file.
func readESLint(lines []string, found *findings) {
	file := ""
	for _, line := range lines {
		if m := eslintSays.FindStringSubmatch(line); m != nil && file != "" {
			level := "error"
			if m[3] == "warning" || m[3] == "⚠" {
				level = "warning"
			}
			found.add(loop.Finding{File: file, Line: number(m[1]), Column: number(m[2]), Level: level, Message: m[4],
				Rule: m[5]})
		} else if line == "" || line[0] == ' ' {
			continue
		} else if file = line; !isFile(file[strings.LastIndexAny(file, `/\`)+1:]) || strings.Contains(file, ": ") {
			file = ""
		}
	}
}

var (
	shellPlace = lazy(`^In (\S+) line (\d+):$`)
	shellSays  = lazy(`^\s*\^-*\^? (SC\d+) \((\w+)\): (.*)$`)
)

// readShellCheck finds what shellcheck says below a line of source.
func readShellCheck(lines []string, found *findings) {
	f := loop.Finding{}
	for _, line := range lines {
		if m := shellPlace.FindStringSubmatch(line); m != nil {
			f = loop.Finding{File: m[1], Line: number(m[2])}
		} else if m := shellSays.FindStringSubmatch(line); m != nil && f.File != "" {
			f.Rule, f.Level, f.Message = m[1], "warning", m[3]
			if m[2] == "error" {
				f.Level = "error"
			}
			f.Column = strings.IndexByte(line, '^') + 1
			found.add(f)
		}
	}
}

var (
	mavenSays = lazy(`^\[(ERROR|WARNING)\] (\S+\.(?:java|kt|scala|groovy)):\[(\d+),(\d+)\] (.*)$`)
	mavenTest = lazy(`^\[ERROR\] +(?:([\w$]+(?:\.[\w$]+)*?)[.:]([\w$]+)(?:\([^)]*\))?:(\d+))(?:->\S+)* +(.*)$`)
)

// readMaven finds the compiler's errors and the failed tests that Maven lists.
func readMaven(lines []string, found *findings) {
	for _, line := range lines {
		if m := mavenSays.FindStringSubmatch(line); m != nil {
			found.add(loop.Finding{File: m[2], Line: number(m[3]), Column: number(m[4]), Level: strings.ToLower(m[1]),
				Message: m[5]})
		} else if m := mavenTest.FindStringSubmatch(line); m != nil {
			class := m[1][strings.LastIndexByte(m[1], '.')+1:]
			found.add(loop.Finding{File: class + ".java", Line: number(m[3]), Test: m[1] + "." + m[2], Message: m[4]})
		}
	}
}

var typeScriptPlace = lazy(`^(\S+?)(?:\((\d+),(\d+)\): |:(\d+):(\d+) - )error (TS\d+): (.*)$`)

// readTypeScript finds the TypeScript compiler's errors, with a terminal or without.
func readTypeScript(lines []string, found *findings) {
	for _, line := range lines {
		if m := typeScriptPlace.FindStringSubmatch(line); m != nil {
			found.add(loop.Finding{File: m[1], Line: number(m[2] + m[4]), Column: number(m[3] + m[5]), Rule: m[6],
				Message: m[7]})
		}
	}
}
