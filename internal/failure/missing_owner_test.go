package failure

import (
	"slices"
	"testing"
)

// TestOwners has a row for what each tool says of something that is missing: its name, and that of what should have it.
func TestOwners(t *testing.T) {
	tests := []struct {
		name, output string
		want         []string
	}{
		{"Python: an attribute", "E   AttributeError: 'Parser' object has no attribute 'parse_body'",
			[]string{"parse_body", "Parser"}},
		{"Python: an attribute of a class", "AttributeError: type object 'Parser' has no attribute 'parse'",
			[]string{"parse", "Parser"}},
		{"Python: an attribute of a module", "AttributeError: module 'lib.parser' has no attribute 'parse'",
			[]string{"parse", "lib.parser"}},
		{"Python: a name of a module", "ImportError: cannot import name 'parse_body' from 'lib.parser' (/app/lib/parser.py)",
			[]string{"parse_body", "lib.parser"}},
		{"Python: an argument", "TypeError: Parser.__init__() got an unexpected keyword argument 'strict'",
			[]string{"Parser"}},
		{"Python: nothing has what None lacks", "AttributeError: 'NoneType' object has no attribute 'text'",
			[]string{"text"}},
		{"mypy", `a.py:3: error: "Parser" has no attribute "parse_body"  [attr-defined]`, []string{"Parser"}},
		{"Go: a method", "./main.go:7:4: p.ParseBody undefined (type *parser.Parser has no field or method ParseBody)",
			[]string{"p.ParseBody", "Parser"}},
		{"Go: a field of a literal", "./main.go:7:4: unknown field Strict in struct literal of type parser.Options",
			[]string{"Options"}},
		{"Go: an interface",
			"./main.go:9:5: cannot use x (a *T) as Store value: *T does not implement Store (missing method Load)",
			[]string{"Store"}},
		{"TypeScript: a property", "src/main.ts(2,14): error TS2339: Property 'parseBody' does not exist on type 'Parser'.",
			[]string{"parseBody", "Parser"}},
		{"TypeScript: a static one", "src/main.ts:2:8 - error TS2339: Property 'of' does not exist on type 'typeof Parser'.",
			[]string{"of", "Parser"}},
		{"TypeScript: one with a guess",
			"a.ts(1,9): error TS2551: Property 'parseBody' does not exist on type 'Parser<string>'. Did you mean 'parse'?",
			[]string{"parseBody", "Parser"}},
		{"TypeScript: an export", `a.ts(1,9): error TS2305: Module '"./parser"' has no exported member 'parseBody'.`,
			[]string{"parseBody", "./parser"}},
		{"TypeScript: of an object nobody named",
			"a.ts(1,9): error TS2339: Property 'x' does not exist on type '{ a: string; }'.", []string{"x"}},
		{"Rust: a method", "error[E0599]: no method named `parse_body` found for struct `Parser` in the current scope",
			[]string{"parse_body", "Parser"}},
		{"Rust: a method of a reference",
			"error[E0599]: no method named `parse_body` found for reference `&Parser` in the current scope",
			[]string{"parse_body", "Parser"}},
		{"Rust: a function",
			"error[E0599]: no function or associated item named `new` found for struct `Parser<'a>` in the current scope",
			[]string{"new", "Parser"}},
		{"Rust: a field", "error[E0609]: no field `depth` on type `&Parser`", []string{"Parser"}},
		{"Rust: a field of a literal", "error[E0560]: struct `Parser` has no field named `depth`", []string{"Parser"}},
		{"Ruby 3.3",
			"NoMethodError: undefined method `parse_body' for an instance of Parser", []string{"parse_body", "Parser"}},
		{"Ruby 3.1", "NoMethodError: undefined method `parse_body' for #<App::Parser:0x00007f3c12358ec8>",
			[]string{"parse_body", "App::Parser"}},
		{"Ruby: a class method", "NoMethodError: undefined method 'of' for class Parser", []string{"of", "Parser"}},
		{"Ruby: nil", "NoMethodError: undefined method `text' for nil:NilClass", []string{"text"}},
		{"PHP: a method", `Error: Call to undefined method App\Parser::parseBody()`,
			[]string{`App\Parser::parseBody`, `App\Parser`}},
		{"PHP: a property",
			`Warning: Undefined property: App\Parser::$depth in /app/a.php on line 3`, []string{`App\Parser`}},
		{"Java", "  symbol:   method parseBody()\n  location: variable p of type Parser", []string{"parseBody", "Parser"}},
		{"C#", "a.cs(3,9): error CS1061: 'Parser' does not contain a definition for 'ParseBody'", []string{"Parser"}},
		{"Swift", "a.swift:3:5: error: value of type 'Parser' has no member 'parseBody'", []string{"Parser"}},
		{"C++, gcc", "a.cc:3:5: error: 'class lex::Parser' has no member named 'parse_body'",
			[]string{"parse_body", "Parser"}},
		{"C++, clang", "a.cc:3:5: error: no member named 'parse_body' in 'lex::Parser'", []string{"Parser"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Read(tt.output).MissingNames(); !slices.Equal(got, tt.want) {
				t.Errorf("missing in %q: %q, want %q", tt.output, got, tt.want)
			}
		})
	}
}
