package failure

import (
	"slices"
	"strings"
)

const mostMissing = 5

// missingPatterns match what tools say of something that does not exist; the last group that matched is its name.
var missingPatterns = patterns(
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
)

// missingNames are what lines say is missing, each once, in their order.
func missingNames(lines []string) []string {
	var names []string
	for _, line := range lines {
		for _, name := range []string{missingName(line), owner(line)} { // what is missing, and what should have it
			if name != "" && !slices.Contains(names, name) && len(names) < mostMissing {
				names = append(names, name)
			}
		}
	}
	return names
}

func missingName(line string) string {
	pattern := missingPatterns.First(line)
	if pattern == nil {
		return ""
	}
	m := pattern.FindStringSubmatch(line)
	return cut(strings.TrimRight(m[len(m)-1], `'".,;:()`))
}

// ownerPatterns match what tools say of a type or module that lacks something; the last group that matched is its name.
var ownerPatterns = patterns(
	// Python, mypy, pyright
	`'([\w.]+)' object has no attribute '`, `type object '([\w.]+)' has no attribute '`,
	`module '([\w.]+)' has no attribute '`,
	`cannot import name '[^']+' from (?:partially initialized module )?'([\w.]+)'`,
	`TypeError: (\w+)(?:\.__init__)?\(\) (?:got an unexpected|missing \d+ required|takes )`,
	`error: (?:Module )?"(?:[Tt]ype\[)?([\w.]+)\]?" has no attribute "`,
	`Cannot access (?:attribute|member) "\w+" for (?:class|type) "(?:type\[)?([\w.]+)`,
	// Go
	`\(type \*?\*?(?:[\w/]+\.)?(\w+)(?:\[.*\])? has no (?:field|method)`,
	`unknown field \w+ in struct literal of type (?:\w+\.)?(\w+)`,
	`does not implement (?:[\w/]+\.)?(\w+) \((?:missing|wrong)`, `too many arguments in call to ([\w.]+)`,
	`not enough arguments in call to ([\w.]+)`,
	// TypeScript
	`does not exist on type '(?:typeof )?(?:import\([^)]*\)\.)?([A-Za-z_$][\w$.]*)`,
	`does not exist in type '([A-Za-z_$][\w$.]*)`,
	`is missing in type '.*' but required in type '([A-Za-z_$][\w$.]*)`, `Module '"?([^'"]+)"?' has no exported member`,
	// Rust
	`no (?:\w+ )+named '[^']+' found for (?:[\w&' ]*?)'?&?(?:mut )?(?:\w+::)*(\w+)(?:<.*>)?' in`,
	`no field '[^']+' on type '&*(?:mut )?(?:\w+::)*(\w+)`, `(?:struct|variant) '(?:\w+::)*(\w+)(?:<.*>)?' has no field`,
	// Ruby
	`undefined (?:local variable or )?method '[^']+' for (?:an instance of |class |module |#<)?([A-Z]\w*(?:::\w+)*)`,
	// PHP
	`undefined method ([\w\\]+)::`, `Undefined property: ([\w\\]+)::`, `Undefined constant ([\w\\]+)::`,
	`undefined constant ([\w\\]+)::`,
	// Java, Kotlin, C#, Swift
	`^\s*(?:\[ERROR\])?\s*location: +(?:class|interface|enum|variable \w+ of type) ([\w$.]+)`,
	`'([\w.]+)' does not contain a definition for '`, `value of type '([\w.]+)' has no member`,
	// C, C++
	`'(?:const )?(?:class|struct|union) (?:\w+::)*(\w+)' has no member named`,
	`no member named '\w+' in '(?:\w+::)*(\w+)'`,
)

// builtins are types that no repository defines.
var builtins = strings.Fields("NoneType str int float bool bytes list dict tuple set object function module method " +
	"NilClass nil String Integer Float Array Hash Symbol Object TrueClass FalseClass never string number boolean any " +
	"unknown undefined null void symbol Promise Date Map Set Function Option Result Vec Box Self self u8 u32 u64 i32 " +
	"i64 usize f64 error byte rune stdClass Number Boolean Error Element HTMLElement")

// owner is the type or module of which a line says that it lacks something; empty: it says so of none.
func owner(line string) string {
	pattern := ownerPatterns.First(line)
	if pattern == nil {
		return ""
	}
	name := strings.TrimRight(pattern.FindStringSubmatch(line)[1], ".:")
	if slices.Contains(builtins, name) {
		return ""
	}
	return cut(name)
}
