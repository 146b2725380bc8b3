package github

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

func logged(lines ...string) string {
	var text strings.Builder
	text.WriteString("\ufeff")
	for _, l := range lines {
		text.WriteString("2026-11-22T01:02:03.1234567Z " + l + "\r\n")
	}
	return text.String()
}

func TestBuildLog(t *testing.T) {
	s := newStage(t)
	text := logged("##[group]Run go test", "\x1b[31mFAIL\x1b[0m a_test.go:7",
		"##[error]Process completed with exit code 1.", "Post job cleanup.")
	_, jobs := s.AddWorkflowRun(owner, name,
		fake.WorkflowRun{Branch: "main", Jobs: []fake.Job{{Name: "test", Conclusion: "failure", Log: &text},
			{Name: "gone", Conclusion: "failure"}}}) // GitHub deletes logs, and a job that was never started has none
	s.AddCheckRun(owner, name, fake.CheckRun{
		Name: "lint", App: "linter", HeadSHA: s.sha, Conclusion: "failure", Title: "2 findings",
		Summary: "of which one is the runner's",
		Annotations: []fake.Annotation{
			{Path: "a.go", StartLine: 3, EndLine: 4, Level: "failure", Title: "unused", Message: "x is unused"},
			{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: "Process completed with exit code 1."},
		},
	})
	s.AddStatus(owner, name, s.sha, fake.Status{Context: "ci/old", State: "failure", Description: "3 failed"})
	c := s.client()
	ci := must[CI](t)(c.Builds(t.Context(), s.sha, "ralph", 0))
	if len(ci.Failed) != 4 {
		t.Fatalf("failed: %+v", ci.Failed)
	}
	for _, b := range ci.Failed {
		excerpt, findings, err := c.BuildLog(t.Context(), b)
		noError(t, err)
		switch b.Name {
		case "test":
			want := "##[group]Run go test\nFAIL a_test.go:7\n##[error]Process completed with exit code 1.\nPost job cleanup."
			if b.JobID != jobs[0] || excerpt != want || len(findings) != 0 {
				t.Errorf("the job's log: %q, %v", excerpt, findings)
			}
		case "gone":
			if b.JobID != jobs[1] || excerpt != "" {
				t.Errorf("a log that is gone: %q", excerpt)
			}
		case "lint":
			if b.JobID != 0 || excerpt != "" || len(findings) != 1 ||
				findings[0] != (Annotation{Path: "a.go", Line: 3, EndLine: 4, Level: "failure", Title: "unused",
					Message: "x is unused"}) {
				t.Errorf("another App's: %q, %+v", excerpt, findings)
			}
			if b.Summary != "2 findings\n\nof which one is the runner's" {
				t.Errorf("summary: %q", b.Summary)
			}
		default:
			if excerpt != "" || findings != nil || b.Summary != "3 failed" {
				t.Errorf("a status: %q, %v", excerpt, findings)
			}
		}
	}
}

// TestTheTokenStaysAtGitHub: where logs lie is another host, and its address is a secret of its own.
func TestTheTokenStaysAtGitHub(t *testing.T) {
	var seen http.Header
	size, status := 10, http.StatusOK
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		text := strings.Repeat(".", size-4) + "\nend"
		if status == http.StatusOK {
			http.ServeContent(w, r, "log", noon, strings.NewReader(text))
			return
		}
		w.WriteHeader(status)
	}))
	defer store.Close()
	s := newStage(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/logs") {
				w.Header().Set("Location", store.URL+"/log?sig=secret")
				w.WriteHeader(http.StatusFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	c := s.client()
	excerpt, err := buildLog{c, Build{JobID: 5}}.jobLog(t.Context())
	if err != nil || !strings.HasSuffix(excerpt, "\nend") || seen.Get("Authorization") != "" {
		t.Errorf("%q, %v; the store saw %v", excerpt, err, seen)
	}
	size = mostLog + 1000
	excerpt, err = buildLog{c, Build{JobID: 5}}.jobLog(t.Context())
	if err != nil || !strings.HasSuffix(excerpt, "end") || seen.Get("Range") != "bytes=1000-" {
		t.Errorf("of a long log its end is read: %q, %v; the store saw %v", excerpt[:20], err, seen)
	}
	for _, status = range []int{http.StatusForbidden, http.StatusInternalServerError} {
		_, _, err = c.BuildLog(t.Context(), Build{Name: "test", JobID: 5})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %v", status, err)
		}
	}
	store.Close()
	_, _, err = c.BuildLog(t.Context(), Build{Name: "test", JobID: 5})
	if err == nil || strings.Contains(err.Error()+strings.Join(s.log, ""), "secret") {
		t.Errorf("no store: %v\n%q", err, s.log)
	}
}

// TestExcerpt has a row for what is kept of a log.
func TestExcerpt(t *testing.T) {
	many := func(n int, what string) []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprint(what, " ", i)
		}
		return lines
	}
	long := append(append(many(500, "before"), "##[error]boom"), many(500, "after")...)
	got := excerptOf(logged(long...))
	for _, want := range []string{"[… 470 lines …]\nbefore 470\n",
		"\n##[error]boom\nafter 0\nafter 1\nafter 2\n[… 397 lines …]\nafter 400\n", "\nafter 499"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := excerptOf(logged(many(3000, strings.Repeat("wide", 200))...)); len(got) > mostExcerpt+10 ||
		!strings.HasPrefix(got, "[…]\n") || !strings.HasSuffix(got, " 2999") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
	if got := excerptOf(""); got != "" {
		t.Errorf("an empty log: %q", got)
	}
	for line, want := range map[string]string{
		"2026-11-22T01:02:03.1234567Z text":     "text",
		"no time here":                          "no time here",
		"\x1b[1;31mred\x1b[0m":                  "red",
		"\x1b]0;title\atext":                    "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\a!": "link!",
		"10%\r50%\r100%":                        "100%",
		"\x1b[31":                               "",
		"a\x1b":                                 "a",
		"nul\x00 bell\a tab\t.":                 "nul bell tab\t.",
		strings.Repeat("x", 2000):               strings.Repeat("x", mostLineText-3) + "…",
	} {
		if got := tidy(line); got != want {
			t.Errorf("tidy(%.40q) = %.40q, want %.40q", line, got, want)
		}
	}
}

// FuzzExcerpt: whatever a job prints, no control character comes through and the excerpt stays short.
func FuzzExcerpt(f *testing.F) {
	f.Add("a\x1b[31mb\x1b]0;x\a\r\n##[error]c\n\x1b")
	f.Fuzz(func(t *testing.T, log string) {
		got := excerptOf(strings.ToValidUTF8(log, "?"))
		if len(got) > mostExcerpt+20 || strings.ContainsAny(got, "\x1b\a\r\x00") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	})
}
