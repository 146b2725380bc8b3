package failure

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ownerPatterns match what tools say of a type or module that lacks something; the last group that matched is its name.
var ownerPatterns = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, text := range []string{
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
	} {
		all = append(all, regexp.MustCompile(text))
	}
	return all
})

// builtins are types that no repository defines.
var builtins = strings.Fields("NoneType str int float bool bytes list dict tuple set object function module method " +
	"NilClass nil String Integer Float Array Hash Symbol Object TrueClass FalseClass never string number boolean any " +
	"unknown undefined null void symbol Promise Date Map Set Function Option Result Vec Box Self self u8 u32 u64 i32 " +
	"i64 usize f64 error byte rune stdClass Number Boolean Error Element HTMLElement")

// owner is the type or module of which a line says that it lacks something; empty: it says so of none.
func owner(line string) string {
	for _, pattern := range ownerPatterns() {
		if m := pattern.FindStringSubmatch(line); len(m) > 1 {
			if name := strings.TrimRight(m[1], ".:"); name != "" && !slices.Contains(builtins, name) {
				return cut(name)
			}
			return ""
		}
	}
	return ""
}
