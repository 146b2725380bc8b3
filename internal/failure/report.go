package failure

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const (
	mostReport = 16 << 20 // bytes of a report that are read
	mostDepth  = 64       // of its elements
)

// Reported is what a report says.
type Reported struct {
	Findings []loop.Finding
	Tests    Tests           // of JUnit XML; unknown for anything else
	Names    *loop.TestNames // of JUnit XML; nil: it names none
}

// Report reads a report that a check wrote: JUnit XML or SARIF, told apart by the content.
// ok is false if it has another format, is broken off, or cannot be read; a report in which nothing failed has no
// findings. Reports of more than 16 MiB are not read.
func Report(content []byte) (r Reported, ok bool) {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff")))
	switch {
	case len(content) == 0 || len(content) > mostReport:
		return r, false
	case content[0] == '<':
		return junit(content)
	case content[0] != '{':
		return r, false
	}
	r.Findings, ok = sarif(content)
	return r, ok
}

// IsFailure reports whether a finding is no mere warning.
func IsFailure(f loop.Finding) bool { return f.Level == "" || f.Level == "error" }

// addFailure adds what a report calls a failure: it counts also when nothing in it has a name.
func (f *findings) addFailure(found loop.Finding) {
	if cut(found.Test) == "" && cut(found.Rule) == "" && displayed(found.File) == "" {
		found.Test = "a failure without a name"
	}
	f.add(found)
}

// sarif reads the results of a SARIF log.
func sarif(content []byte) ([]loop.Finding, bool) {
	var log struct {
		Version string `json:"version"`
		Runs    []struct {
			Results []struct {
				RuleID  string `json:"ruleId"`
				Level   string `json:"level"`
				Kind    string `json:"kind"`
				Message struct {
					Text string `json:"text"`
				} `json:"message"`
				Locations []struct {
					Physical struct {
						Artifact struct {
							URI string `json:"uri"`
						} `json:"artifactLocation"`
						Region struct {
							StartLine   int `json:"startLine"`
							StartColumn int `json:"startColumn"`
						} `json:"region"`
					} `json:"physicalLocation"`
				} `json:"locations"`
				Suppressions []json.RawMessage `json:"suppressions"`
			} `json:"results"`
		} `json:"runs"`
	}
	if json.Unmarshal(content, &log) != nil || log.Version == "" || log.Runs == nil {
		return nil, false
	}
	found := newFindings()
	for _, run := range log.Runs {
		for _, r := range run.Results {
			if len(r.Suppressions) > 0 || r.Kind != "" && r.Kind != "fail" {
				continue
			}
			f := loop.Finding{Rule: r.RuleID, Message: r.Message.Text, Level: "warning"} // SARIF's own default
			if r.Level == "error" {
				f.Level = "error"
			}
			if len(r.Locations) > 0 {
				at := r.Locations[0].Physical
				f.File, f.Line, f.Column = at.Artifact.URI, at.Region.StartLine, at.Region.StartColumn
			}
			found.addFailure(f)
		}
	}
	return found.all, true
}

// junit reads the test cases of a JUnit report.
func junit(content []byte) (r Reported, ok bool) {
	found := newFindings()
	var sum runnerCounts
	var names testNames
	begun, err := testCases(content, func(test loop.Finding, how byte, failures []loop.Finding) {
		for _, f := range failures {
			found.addFailure(f)
		}
		sum.add(testOutcome(how))
		names.add(test.Test, how)
	})
	if !begun || err != nil { // of a runner that died, nothing but the line <?xml …?> may be there
		return r, false
	}
	r = Reported{Findings: found.all, Names: names.names(), Tests: Tests{
		Runner: "JUnit report", Known: true, Ran: sum.ran, Skipped: sum.skipped, Failed: sum.failed,
	}}
	if r.Tests.Ran == 0 {
		r.Tests.Said = "JUnit report: " + sum.why()
	}
	return r, true
}

// testCases reads the test cases of a JUnit report, element by element: each with how it ended, as outcome says it, and
// its failures. begun is false for other XML; the error is where a report is broken off. encoding/xml reads no external
// entity.
func testCases(content []byte, each func(test loop.Finding, how byte, failures []loop.Finding)) (begun bool, err error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // elements are ASCII in those that are met
	var test, failure loop.Finding
	var failures []loop.Finding
	var text strings.Builder
	depth, how, failing := 0, byte(0), false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return begun, nil
		}
		if err != nil {
			return begun, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			name := e.Name.Local
			if depth > mostDepth || depth == 1 && name != "testsuites" && name != "testsuite" {
				return begun, fmt.Errorf("the element %s is not part of a JUnit report", name)
			}
			begun = true
			switch name {
			case "testcase":
				test, how, failures = testCase(e), 'p', nil
			case "skipped":
				how = 's'
			case "failure", "error":
				how, failing, failure = 'f', true, test
				failure.Message = attribute(e, "message")
				text.Reset()
			}
		case xml.CharData:
			if failing && text.Len() < mostLine {
				text.Write(e[:min(len(e), mostLine)])
			}
		case xml.EndElement:
			depth--
			switch name := e.Name.Local; {
			case name == "testcase":
				each(test, how, failures)
			case failing && (name == "failure" || name == "error"):
				failing, failures = false, append(failures, located(failure, text.String()))
			}
		}
	}
}

// testCase is the test that an element names.
func testCase(e xml.StartElement) loop.Finding {
	name := attribute(e, "name")
	if class := attribute(e, "classname"); class != "" {
		name = class + "." + name
	}
	return loop.Finding{Test: name, File: attribute(e, "file"), Line: number(attribute(e, "line"))}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// located takes what a test case lacks from the text of its failure.
func located(test loop.Finding, text string) loop.Finding {
	if test.Message == "" {
		test.Message, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	}
	if test.File == "" {
		if in := Read(text).Findings(); len(in) > 0 {
			test.File, test.Line, test.Column = in[0].File, in[0].Line, in[0].Column
		}
	}
	return test
}
