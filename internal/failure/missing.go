package failure

import (
	"slices"
	"strings"
	"sync"
)

const mostMissing = 5

// missingPatterns match what tools say of something that is not there; the last group that matched is its name.
var missingPatterns = sync.OnceValue(func() []*pattern {
	var all []*pattern
	for _, text := range []string{
		// Python
		`ModuleNotFoundError: No module named '([^']+)'`, `ImportError: No module named '?([\w.]+)`,
		`ImportError: cannot import name '([^']+)'`,
		`NameError: (?:global )?name '([^']+)' is not defined`, `UnboundLocalError: .*local variable '([^']+)'`,
		`AttributeError: .*has no attribute '([^']+)'`,
		`FileNotFoundError: .*: '([^']+)'`, `fixture '([^']+)' not found`,
		// Go
		`: undefined: ([\w.]+)`, `: ([\w.()*\[\]]+) undefined \(`, `no required module provides package ([^\s;:]+)`,
		`package (\S+) is not in std`,
		`cannot find (?:package|module providing package) "?([^\s":]+)`, `undefined: ([\w.]+)$`,
		`: open ([^\s:]+): no such file or directory`,
		`^(?:.*[ :])?(?:open|stat|lstat|chdir|fork/exec) ([^\s:]+): no such file or directory`,
		// TypeScript, JavaScript
		`TS2(?:304|552|503|318): Cannot find (?:name|namespace|global type) '([^']+)'`,
		`TS2(?:307|792): Cannot find module '([^']+)'`, `TS7016: .*module '([^']+)'`,
		`TS(?:2339|2551|2305|2724|2614): .*(?:Property|member|exported member named) '([^']+)'`,
		`Cannot find (?:module|package) '([^']+)'`,
		`Failed to resolve import "([^"]+)"`, `Could not resolve "([^"]+)"`, `ReferenceError: (\S+) is not defined`,
		`TypeError: (\S+) is not a function`, `'([^']+)' is not defined +no-undef`,
		`ENOENT: no such file or directory, \w+ '([^']+)'`, `does not provide an export named '([^']+)'`,
		// Rust
		`E0(?:425|412|405|433|531|422|423|574|576)\]: (?:cannot find \w+(?: \w+)*?|failed to resolve: .*?) '([^']+)'`,
		`E0432\]: unresolved imports? '([^']+)'`, `E0(?:599|609)\]: no (?:\w+ )+named '([^']+)'`,
		`E0583\]: file not found for module '([^']+)'`, `E0463\]: can't find crate for '([^']+)'`,
		// Java
		`^\s*(?:\[ERROR\])?\s*symbol: +(?:class|variable|method|interface|enum|static) ([\w$]+)`,
		`package ([\w.]+) does not exist`, `(?:ClassNotFoundException|NoClassDefFoundError): ([\w./$]+)`,
		// C, C++, linkers
		`'([^']+)' undeclared`, `'([^']+)' was not declared`, `use of undeclared identifier '([^']+)'`,
		`unknown type name '([^']+)'`, `implicit declaration of function '([^']+)'`,
		`fatal error: '?([^\s:']+)'?: No such file or directory`, `fatal error: '([^']+)' file not found`,
		`undefined reference to '([^']+)'`, `cannot find -l(\S+)`, `has no member named '([^']+)'`,
		// Ruby, PHP, shells
		`cannot load such file -- (\S+)`, `NameError.*uninitialized constant (\S+)`, `uninitialized constant (\S+)`,
		`undefined local variable or method '([^']+)'`, `undefined method '([^']+)'`,
		`Class "([^"]+)" not found`, `Call to undefined (?:function|method) ([\w\\:]+)`,
		`Undefined (?:variable|constant) "?(\$?\w+)`,
		`(?:^|: )([\w./+-]+): (?:command )?not found$`, `executable file not found in \$PATH: ?"?(\S+?)"?$`,
		`exec: "([^"]+)": executable file not found`,
		`F821 .*undefined name '([^']+)'`,
		`^(?:.*: )?(?:cannot (?:access|stat|open) )?'?([^\s:']+)'?: No such file or directory`,
		`No rule to make target '([^']+)'`,
	} {
		all = append(all, lazily(text))
	}
	return all
})

// missingWords stand in every line that says what is missing: the cheap question before the dear ones.
var missingWords = []string{"not ", "No ", "no ", "ndefined", "annot ", "unresolved", "undeclared", "uninitialized",
	"symbol", "unknown type", "implicit", "ClassDef", "ClassNot", "ould not", "ailed to resolve", "can't find",
	"UnboundLocal", "missing", "location:", "unexpected", "takes ", "unknown field"}

// missingNames are what lines say is missing, each once, in their order.
func missingNames(lines []string) []string {
	var names []string
	for _, line := range lines {
		if !slices.ContainsFunc(missingWords, func(word string) bool { return strings.Contains(line, word) }) {
			continue
		}
		for _, name := range []string{missingName(line), owner(line)} { // what is missing, and what should have it
			if name != "" && !slices.Contains(names, name) && len(names) < mostMissing {
				names = append(names, name)
			}
		}
	}
	return names
}

func missingName(line string) string {
	for _, pattern := range missingPatterns() {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return cut(strings.TrimRight(m[len(m)-1], `'".,;:()`))
		}
	}
	return ""
}
