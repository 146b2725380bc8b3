package failure

import (
	"bytes"
	"encoding/xml"
	"io"

	"github.com/ralph-loop/ralph/internal/loop"
)

// RanReport tells how many tests a report says were run. Only JUnit XML and the events of go test -json tell; of
// anything else, nothing is known. Of XML that is broken off, what was read counts.
func RanReport(content []byte) Tests {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		return Ran(string(content))
	}
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = asIs
	tests := Tests{Runner: "JUnit report"}
	var skipped, failed, within bool
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "testsuites", "testsuite":
				tests.Known = true
			case "testcase":
				within, skipped, failed = tests.Known, false, false
			case "skipped":
				skipped = true
			case "failure", "error":
				failed = true
			default:
				if !tests.Known {
					return Tests{}
				}
			}
		case xml.EndElement:
			if t.Name.Local == "testcase" && within {
				within = false
				tests.count(skipped, failed)
			}
		}
	}
	if !tests.Known {
		return Tests{}
	}
	if tests.Ran == 0 {
		tests.Said = "JUnit report: " + runnerCounts{skipped: tests.Skipped}.why()
	}
	return tests
}

func (t *Tests) count(skipped, failed bool) {
	if skipped {
		t.Skipped++
		return
	}
	t.Ran++
	if failed {
		t.Failed++
	}
}

// asIs reads any charset as if it were UTF-8: elements are ASCII in those that are met.
func asIs(_ string, r io.Reader) (io.Reader, error) { return r, nil }

// NamesOfReport are the tests that a report of JUnit XML names; nil when there are none.
func NamesOfReport(content []byte) *loop.TestNames {
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = asIs
	var n testNames
	name, how := "", byte(0)
	for {
		token, err := d.Token()
		if err != nil {
			return n.names()
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "testcase":
				name, how = testCase(t).Test, 'p'
			case "skipped":
				how = 's'
			case "failure", "error":
				how = 'f'
			}
		case xml.EndElement:
			if t.Name.Local == "testcase" {
				n.add(name, how)
			}
		}
	}
}
