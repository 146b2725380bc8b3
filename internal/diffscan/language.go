package diffscan

import (
	"path"
	"strings"
)

// language says how the tests of a programming language look, line by line. The patterns know what formatters leave;
// what is written against all custom is not seen, and a reviewer has to.
type language struct {
	endings []string
	hash    bool // # begins a comment, not //
	// path matches the files that hold tests.
	path *pattern
	// test matches the line that declares a test; its first group that is not empty is the name.
	test *pattern
	// mark and marked: a function is a test when a line above it says so.
	mark, marked *pattern
	// row matches a case of a table, by name.
	row *pattern
	// skip matches what keeps one test from running, narrow what keeps many from it.
	skip, narrow *pattern
	// assert matches lines that can fail a test; trivial those that cannot although they look so: with two groups, when
	// both are equal.
	assert  *pattern
	trivial []*pattern
}

func all(patterns ...string) (list []*pattern) {
	for _, p := range patterns {
		list = append(list, lazy(p))
	}
	return list
}

const (
	// quoted is a string literal in one of its three groups.
	quoted = "(?:'((?:[^'\\\\]|\\\\.)*)'|\"((?:[^\"\\\\]|\\\\.)*)\"|`([^`]*)`)"
	// two are the arguments of an assertion of equality.
	two = `\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*[,)]`
	// helper is a call of a function of the project that looks as if it asserts.
	helper = `|\b(?i:assert|expect|check|verify|ensure|must|require|should)\w*!?\s*\(`
)

var languages = []*language{
	{ // Go
		endings: []string{".go"},
		path:    lazy(`_test\.go$`),
		test:    lazy(`^func (?:\([^)]*\) )?((?:Test|Fuzz|Example)(?:[^\Wa-z]\w*)?)\(|^\s*\w+\.Run\("([^"]+)"`),
		row: lazy(
			`^\s*\{\s*(?:(?i:name|desc|description|title|test|scenario|label)\s*:\s*)?"([^"]+)"\s*[,}]|^\s*"([^"]+)":\s*\{`),
		skip:   lazy(`\b\w+(?:\(\))?\.Skip(?:f|Now)?\(|\btesting\.Short\(\)`),
		narrow: lazy(`^//go:build\b|^// \+build\b`),
		assert: lazy(
			`\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt)\.\w+\(|\b\w+\(t[,)]|^\s*// (?:Output|Unordered output):` + helper),
		trivial: all(`\.True\(t, true\b`, `\.(?:Equal|EqualValues)\(t, ([^,()]+?), ([^,()]+?)[,)]`),
	},
	{ // Python
		endings: []string{".py"}, hash: true,
		path: lazy(`(?:^|/)(?:test_[^/]*|[^/]*_test|tests|conftest)\.py$|(?:^|/)tests?/.*\.py$`),
		test: lazy(`^\s*(?:async\s+)?def (test\w*)\s*\(`),
		skip: lazy(
			`@(?:pytest\.mark\.|unittest\.|mark\.)?(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b|pytest\.(?:skip|xfail)\(|\.skipTest\(|\bSkipTest\b`),
		narrow: lazy(
			`^\s*pytestmark\b.*(?:skip|xfail)|allow_module_level\s*=\s*True|\b__test__\s*=\s*False|^\s*collect_ignore`),
		assert: lazy(`^\s*assert\b|\.assert\w+\(|pytest\.(?:raises|warns|fail)\(|\.fail\(` + helper),
		trivial: all(`^\s*assert\s*\(?\s*(?:True|1|not False|"[^"]*"|'[^']*')\s*\)?\s*(?:,.*)?$`,
			`\.assertTrue\(\s*True\s*[,)]`, `\.assertFalse\(\s*False\s*[,)]`,
			`^\s*assert\s+([\w.'"]+)\s*==\s*([\w.'"]+)\s*$`, `\.assertEqual`+two),
	},
	{ // JavaScript, TypeScript
		endings: []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"},
		path: lazy(
			`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/.*\.[cm]?[jt]sx?$`),
		test: lazy(`^\s*(?:Deno\.)?(?:[fx]?it|x?test|x?specify)(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\s*\(\s*` + quoted),
		skip: lazy(
			`\b(?:it|test|specify)\.(?:skip|todo|fixme|failing|fails)\b|\b(?:xit|xtest|xspecify)\s*\(|\b(?:this|t|ctx|context)\.skip\(|\bpending\(`),
		narrow: lazy(`\b(?:describe|context|suite)\.skip\b|\b(?:xdescribe|xcontext)\s*\(|` + onlyPattern),
		assert: lazy(
			`\bexpect\w*\s*[(.]|\bassert\w*\s*[(.]|\.should\b|\bt\.(?:is|not|like|deepEqual|true|false|truthy|falsy|throws|equal|ok|same)\(` + helper),
		trivial: all(
			`expect\(\s*([^()]+?)\s*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:be\.)?equal|to\.eql)\(\s*([^()]+?)\s*\)`,
			`expect\(\s*true\s*\)\.(?:toBeTruthy|toBeDefined|to\.be\.(?:true|ok))`,
			`\bassert(?:\.ok)?\(\s*true\s*[,)]`, `\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual)`+two),
	},
	{ // Rust
		endings: []string{".rs"},
		path:    lazy(`\.rs$`),
		mark:    lazy(`^\s*#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b`),
		marked:  lazy(`^\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:unsafe\s+)?fn (\w+)`),
		skip:    lazy(`#\[\s*ignore\b|#\[\s*cfg_attr\(.*\bignore\b|#\[\s*cfg\(any\(\)\)`),
		narrow:  lazy(`#!\[\s*cfg\(any\(\)\)`),
		assert:  lazy(`\b\w*assert\w*!|\bpanic!|\.unwrap_err\(\)|should_panic` + helper),
		trivial: all(`\bassert!\(\s*true\s*[,)]`, `\bassert_eq!`+two),
	},
	{ // Java, Kotlin, Groovy, Scala
		endings: []string{".java", ".kt", ".kts", ".groovy", ".scala"},
		path: lazy(
			`(?:^|/)src/(?:test|androidTest|integrationTest|it)/|(?:Test|Tests|TestCase|IT|Spec)\.\w+$|(?:^|/)Test[A-Z]\w*\.\w+$`),
		test: lazy(`^\s*public void (test\w+)\s*\(`),
		mark: lazy(`^\s*@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b`),
		marked: lazy(
			"^\\s*(?:@[\\w.]+(?:\\([^)]*\\))?\\s+)*(?:(?:public|private|protected|internal|final|static|open|suspend|override|synchronized)\\s+)*(?:fun\\s+(?:`([^`]+)`|(\\w+))|(?:<[^>]+>\\s+)?[\\w.<>\\[\\]?]+\\s+(\\w+))\\s*\\("),
		skip: lazy(
			`@(?:[\w.]+\.)?(?:Disabled|Ignore|Ignored)(?:\w*)|enabled\s*=\s*false|\b(?:Assum\w+\.)?assum(?:e|ing)\w*\(`),
		assert: lazy(`\bassert\w*\s*[({]|\bAssert(?:ions)?\.|\bfail\(|\bshould\w*\b` + helper),
		trivial: all(`\bassertTrue\(\s*true\s*[,)]`, `\bassertFalse\(\s*false\s*[,)]`, `\bassertEquals`+two,
			`\bassertThat\(\s*true\s*\)\.isTrue`),
	},
	{ // Ruby
		endings: []string{".rb"}, hash: true,
		path: lazy(`_(?:spec|test)\.rb$|(?:^|/)test_[^/]*\.rb$|(?:^|/)(?:spec|test)/.*\.rb$`),
		test: lazy(`^\s*def (test_\w+)|^\s*(?:[fx]?(?:it|specify|example|scenario)|test|should|pending|skip)\s*\(?\s*` +
			quoted),
		skip: lazy(`^\s*(?:xit|xspecify|xexample|xscenario|pending|skip)\b|,\s*(?::skip|:pending|skip:|pending:)`),
		narrow: lazy(
			`^\s*(?:RSpec\.)?(?:xdescribe|xcontext|xfeature|fdescribe|fcontext)\b|^\s*f(?:it|specify|example|scenario)\b|,\s*(?::focus\b|focus:\s*true)`),
		assert: lazy(`\bexpect\b|\bassert\w*\b|\brefute\w*\b|\.should\b|\b(?:must|wont)_\w+|\bis_expected\b|\bflunk\b` +
			helper),
		trivial: all(`\bassert\s*\(?\s*true\s*\)?\s*$`, `\bassert_equal\s*\(?\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)?$`,
			`expect\(\s*([^()]+?)\s*\)\.to (?:eq|be|eql)\s*\(?\s*([^()]+?)\s*\)?$`, `expect\(\s*true\s*\)\.to be_truthy`),
	},
	{ // PHP
		endings: []string{".php"},
		path:    lazy(`Test\.php$|(?:^|/)[Tt]ests?/.*\.php$`),
		test:    lazy(`^\s*(?:(?:public|final|static)\s+)*function (test\w+)\s*\(|^\s*(?:it|test)\(\s*` + quoted),
		mark:    lazy(`^\s*#\[(?:\w+\\)*Test\]|^\s*(?:/\*)?\*+\s*@test\b`),
		marked:  lazy(`^\s*(?:(?:public|final|static)\s+)*function (\w+)\s*\(`),
		skip:    lazy(`(?:->|::)markTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(`),
		narrow:  lazy(`->only\(`),
		assert:  lazy(`(?:->|::)(?:assert\w*|expect\w*|fail|should\w*)\(|\bexpect\(` + helper),
		trivial: all(`assertTrue\(\s*true\s*[,)]`, `assertFalse\(\s*false\s*[,)]`, `assert(?:Same|Equals)`+two,
			`expect\(\s*true\s*\)->toBe(?:True|Truthy|\(\s*true)`),
	},
	{ // C#
		endings: []string{".cs"},
		path:    lazy(`Tests?\.cs$|(?:^|/)[^/]*Tests?/.*\.cs$`),
		mark: lazy(
			`^\s*\[(?:\w+\.)*(?:\w+\(?.*\)?,\s*)?(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|TestCaseSource)\b`),
		marked: lazy(
			`^\s*(?:\[[^\]]*\]\s*)*(?:(?:public|private|internal|protected|static|async|virtual|override)\s+)+[\w.<>\[\]?]+\s+(\w+)\s*\(`),
		skip: lazy(
			`\[(?:\w+\.)*(?:Ignore|Explicit)\b|\b(?:Skip|Ignore)\s*=\s*"|\bAssert\.(?:Ignore|Inconclusive|Skip)\(|\bSkip\.If`),
		assert:  lazy(`\bAssert\.|\.Should\w*\(|\bVerify\w*\(|\bExpect\(` + helper),
		trivial: all(`\bAssert\.(?:IsTrue|True)\(\s*true\s*[,)]`, `\bAssert\.(?:Equal|AreEqual)`+two),
	},
}

// onlyPattern matches what keeps every other test of a file from running.
const onlyPattern = `\b(?:describe|context|suite|it|test|specify)\.only\b|\b(?:fdescribe|fcontext|fit)\s*\(`

var only = lazy(onlyPattern +
	`|^\s*(?:RSpec\.)?f(?:describe|context|it|specify|example|scenario)\b|,\s*(?::focus\b|focus:\s*true)|->only\(`)

// languageOf is the language of a file by its ending, nil when it is none of those.
func languageOf(name string) *language {
	ending := strings.ToLower(path.Ext(name))
	for _, l := range languages {
		for _, e := range l.endings {
			if e == ending {
				return l
			}
		}
	}
	return nil
}
