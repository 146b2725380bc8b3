package failure

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
)

// FuzzReport: whatever a report holds, what is read of it is bounded, and one that does not end well is none.
func FuzzReport(f *testing.F) {
	for _, text := range []string{`<testsuite><testcase name="a" classname="b" file="c.go" line="-4">` +
		`<failure message="m">t</failure></testcase></testsuite>`,
		`<testsuites><testcase/><error/></testsuites>`, `<testsuite`, `<a/>`,
		`<?xml version="1.0" encoding="utf-16"?><testsuite/>`,
		`<!DOCTYPE x [<!ENTITY a "b">]><testsuite>&a;</testsuite>`,
		`{"version":"2.1.0","runs":[{"results":[{"level":"error"}]}]}`,
		`{"version":"2.1.0","runs":[{"results":[{"ruleId":"r","kind":"pass"},{"suppressions":[{}],"level":"error"}]}]}`,
		"\ufeff<testsuite/>", "{", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		r, ok := Report(content)
		found := r.Findings
		if !ok && found != nil || len(found) > loop.MaxFindings {
			t.Errorf("%d findings, %v", len(found), ok)
		}
		for _, one := range found {
			if one.Line < 0 || one.Column < 0 || one.File+one.Test+one.Rule == "" || one.Message == "" ||
				len(one.Message)+len(one.Test)+len(one.Rule) > 4*mostLine || !utf8.ValidString(one.Message+one.Test+one.Rule) {
				t.Errorf("%+v", one)
			}
		}
		ran := r.Tests
		if ran.Ran < 0 || ran.Skipped < 0 || ran.Failed < 0 || ran.Closing < 0 || !ran.Known && ran != (Tests{}) {
			t.Errorf("%+v", ran)
		}
		if names := r.Names; names != nil &&
			len(names.Passed)+len(names.Failed)+len(names.Skipped) > loop.MaxTestNames {
			t.Errorf("%d, %d and %d names", len(names.Passed), len(names.Failed), len(names.Skipped))
		}
		trimmed := bytes.TrimSpace(content)
		if ok && len(trimmed) > 0 && trimmed[0] == '<' && xml.Unmarshal(content, new(struct{})) != nil &&
			!bytes.Contains(content, []byte("encoding")) {
			t.Errorf("%q is taken for XML", content)
		}
	})
}

// FuzzFailureIsFound: whatever a test is called and prints, and whatever the one before it, its failure is found in
// each form of report.
func FuzzFailureIsFound(f *testing.F) {
	f.Add("TestA", "--- PASS: TestB (0.00s)\nPASS\nok  \tp\t0.1s\n", uint8(1))
	f.Add("", "", uint8(2))
	f.Add("\x00", "</testcase></testsuite>]]>", uint8(3))
	f.Add("a # SKIP", "ok 2\n1..1\n", uint8(0))
	f.Fuzz(func(t *testing.T, name, output string, before uint8) {
		n := int(before) % 4
		for form, report := range map[string]string{"JUnit": junitOf(name, output, n), "SARIF": sarifOf(name, output, n)} {
			r, ok := Report([]byte(report))
			found := r.Findings
			failures := 0
			for _, one := range found {
				if one.Level == "" || one.Level == "error" {
					failures++
				}
			}
			if !ok || failures == 0 {
				t.Errorf("%s: no failure in %s", form, report)
			}
			if form == "SARIF" {
				continue
			}
			if ran := r.Tests; !ran.Known || ran.Failed < 1 || ran.Ran != n+1 {
				t.Errorf("%s: %+v in %s", form, ran, report)
			}
			if half, ok := Report([]byte(report[:len(report)-5])); ok {
				t.Errorf("half a report is one: %+v", half)
			}
		}
	})
}

// junitOf is a report of so many tests that passed, and one that failed.
func junitOf(name, output string, n int) string {
	var b strings.Builder
	b.WriteString("<testsuites><testsuite>")
	for i := range n {
		fmt.Fprintf(&b, `<testcase name="before %d"><system-out>`, i)
		_ = xml.EscapeText(&b, []byte(output))
		b.WriteString("</system-out></testcase>")
	}
	b.WriteString(`<testcase name="`)
	_ = xml.EscapeText(&b, []byte(name))
	b.WriteString(`"><failure message="`)
	_ = xml.EscapeText(&b, []byte(output))
	b.WriteString(`">`)
	_ = xml.EscapeText(&b, []byte(output))
	b.WriteString("</failure></testcase></testsuite></testsuites>")
	return b.String()
}

func sarifOf(rule, message string, n int) string {
	type object = map[string]any
	results := []object{}
	for range n {
		results = append(results, object{"ruleId": rule, "level": "note", "message": object{"text": message}})
	}
	results = append(results, object{"ruleId": rule, "level": "error", "message": object{"text": message}})
	text, _ := json.Marshal(object{"version": "2.1.0", "runs": []object{{"results": results}}})
	return string(text)
}
