package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	junitGood = `<testsuite><testcase name="a"/><testcase name="b"/></testsuite>`
	junitBad  = `<testsuite name="s"><testcase name="a" classname="s"/><testcase name="b" classname="s"><failure message="want 3, got 4">x</failure></testcase></testsuite>`
	sarifBad  = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"l"}},"results":[{"ruleId":"R1","level":"error","message":{"text":"bad"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},"region":{"startLine":3}}}]}]}]}`
	sarifWarn = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"l"}},"results":[{"ruleId":"R1","level":"warning","message":{"text":"hm"}}]}]}`
)

// TestReport: a report adds failures and tests. It never makes a failed command pass, and one from before the run says
// nothing.
func TestReport(t *testing.T) {
	tests := []struct {
		name, line, before string // before: what r.xml is when the command begins
		report             string // "r.xml" when empty
		pass               bool
		reason             string // a part
		ran                int    // -1: nobody knows
	}{
		{"passes", "cp good r.xml", "", "", true, "", 2},
		{"a failure that the exit code hides", "cp bad r.xml", "", "", false, "names a failure: ", 2},
		{"a good report and a bad exit", "cp good r.xml; exit 1", "", "", false, "it exited with code 1", 2},
		{"it tells of tests where the output tells of none", "cp good r.xml; echo '?   \tm\t[no test files]'", "", "", true,
			"", 2},
		{"SARIF with errors", "cp error.sarif r.xml", "", "", false, "names a failure: ", -1},
		{"SARIF with warnings", "cp warning.sarif r.xml", "", "", true, "", -1},
		{"none was written", "true", "", "", true, "it passed without writing its report r.xml", -1},
		{"a failing one from before the run", "true", junitBad, "", true, "it passed without writing its report r.xml", -1},
		{"a forged one does not hide that none ran", "echo '?   \tm\t[no test files]'", junitGood, "", false,
			"without running a single test", 0},
		{"one from before, written anew", "cp bad r.xml", junitGood, "", false, "names a failure", 2},
		{"several", "mkdir b; cp good b/1.xml; cp bad b/2.xml", "", "b/*.xml", false, "names a failure", 4},
		{"broken off", "printf '<testsuite><testc' >r.xml", "", "", false,
			"its report r.xml is neither JUnit XML nor SARIF, or is broken off", -1},
		{"a link", "ln -s good r.xml", "", "", false, "cannot be read: it is not a regular file", -1},
		{"too large", "head -c 9000000 /dev/zero >r.xml", "", "", false,
			"cannot be read: it is not a regular file of at most 8 MiB", -1},
		{"out of the tree", "true", "", "../outside.xml", true, "it passed without writing its report ../outside.xml", -1},
		{"out of the tree by a link", "ln -s .. up; cp bad ../outside.xml", "", "up/outside.xml", true,
			"without writing its report", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := command(t, tt.line)
			c.Dir = filepath.Join(c.Dir, "tree")
			noError(t, os.Mkdir(c.Dir, 0o755))
			for name, content := range map[string]string{
				"good": junitGood, "bad": junitBad, "error.sarif": sarifBad, "warning.sarif": sarifWarn,
				"r.xml": tt.before, "../outside.xml": junitBad,
			} {
				if content == "" {
					continue
				}
				noError(t, os.WriteFile(filepath.Join(c.Dir, name), []byte(content), 0o644))
			}
			if c.Expect.Report = tt.report; c.Expect.Report == "" {
				c.Expect.Report = "./r.xml"
			}
			v := outcomeOf(t, c)
			if v.Pass != tt.pass || !strings.Contains(v.Reason, strings.ReplaceAll(tt.reason, " r.xml", " "+c.Expect.Report)) &&
				!strings.Contains(v.Reason, tt.reason) || tt.reason == "" && v.Reason != "" {
				t.Errorf("pass %v, reason %q; want %v, %q", v.Pass, v.Reason, tt.pass, tt.reason)
			}
			if tt.ran < 0 && v.Ran != nil || tt.ran >= 0 && (v.Ran == nil || *v.Ran != tt.ran) {
				t.Errorf("ran %v, want %d", v.Ran, tt.ran)
			}
			if strings.Contains(tt.line, "bad") && !tt.pass && len(v.Findings) != 1 {
				t.Errorf("findings %+v", v.Findings)
			}
		})
	}
}

// TestReportPatternIsWrong: a setting that can never match is the harness's to say, not the check's.
func TestReportPatternIsWrong(t *testing.T) {
	c := command(t, "true")
	c.Expect.Report = "[a.xml"
	if _, err := c.Run(t.Context(), Input{}); err == nil || !strings.Contains(err.Error(), `"[a.xml" of the check check`) {
		t.Errorf("error = %v", err)
	}
}
