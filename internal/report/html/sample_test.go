package html

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// sampleDetail is a run with something of everything: a failure, a pause, a review that asked for changes, and an
// outcome.
func sampleDetail() Detail {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.\n\n<response>DONE</response>", sample.Pass("claim"),
		sample.Pass("go vet ./..."),
		withPlaces(sample.TestFailure))
	s.Pull()
	s.Turning(2, loop.Implement)
	s.Wait(20 * time.Second)
	s.Add(loop.Record{Type: loop.Turned, Iteration: 2,
		Turn: &loop.Turn{Class: loop.UsageLimit, Reason: "claude's usage limit is reached", Duration: 20 * time.Second}})
	s.Add(loop.Record{Type: loop.Committed, Iteration: 2, Commit: &loop.Commit{SHA: sha(1), Tree: "t1", Empty: true}})
	s.Add(loop.Record{Type: loop.Paused,
		Pause: &loop.Pause{Until: s.At.Add(2 * time.Hour), Reason: "claude's usage limit is reached"}})
	s.Wait(2*time.Hour + 5*time.Minute)
	s.Iterate(2, loop.Implement, "The empty name now gives **Hello!**; the test passes.", sample.Pass("claim"),
		sample.Pass("go vet ./..."), sample.Pass("go test ./..."), sample.AsksChange)
	s.Iterate(3, loop.ReviewFix, "Done as asked: the flag is gone.\n", sample.Pass("claim"), sample.Pass("go vet ./..."),
		flaky(sample.Pass("go test ./...")), sample.Weakened, sample.LintWarning, approves)
	return Detail{View: end(s, loop.Done, "all checks passed on iteration 3", ""), Records: s.Records,
		Diffs: map[int]Diff{1: {Text: firstDiff},
			3: {Text: lastDiff, Note: "The diff of 2 more files is left out, because it is longer than 100 KiB."}}}
}

func sha(n int) string { return fmt.Sprintf("%040d", n) }

func flaky(c loop.Verdict) loop.Verdict {
	c.Flaky = true
	return c
}

func withPlaces(c loop.Verdict) loop.Verdict {
	c.Findings = []loop.Finding{{File: "hello_test.go", Line: 12, Test: "TestGreet",
		Message: `Greet("") = "Hello, !", want "Hello!"`}}
	return c
}

var approves = loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Pass: true, Reason: "approved",
	Output:   "It greets, and nothing more.\nThe test covers the empty name.\n",
	Duration: 28 * time.Second, Usage: &loop.Usage{CostUSD: 0.01, Input: 900, Output: 120}}

const firstDiff = `diff --git a/hello.go b/hello.go
index 3b18e51..a0c4b7a 100644
--- a/hello.go
+++ b/hello.go
@@ -1,5 +1,13 @@
 package hello
 
-// TODO
+import "fmt"
+
+// Greet greets somebody by name, with <b>no</b> markup & "quotes".
+func Greet(name string) string {
+	return fmt.Sprintf("Hello, %s!", name)
+}
+
+// Flag is a long line that goes on and on and on, so that whoever reads it on a phone has to scroll the box, and the box alone, to its end.
 func Hello() string {
 	return "Hello!"
 }
diff --git a/hello_test.go b/hello_test.go
new file mode 100644
index 0000000..52d27a5
--- /dev/null
+++ b/hello_test.go
@@ -0,0 +1,9 @@
+package hello
+
+import "testing"
+
+func TestGreet(t *testing.T) {
+	if got := Greet("Ann"); got != "Hello, Ann!" {
+		t.Errorf("Greet = %q", got)
+	}
+}
\ No newline at end of file
`

const lastDiff = `diff --git a/cmd/main.go b/cmd/hello.go
similarity index 90%
rename from cmd/main.go
rename to cmd/hello.go
index 1111111..2222222 100644
--- a/cmd/main.go
+++ b/cmd/hello.go
@@ -1,4 +1,3 @@
 package main
 
--- a line that looks like a header
-var asJSON = flag.Bool("json", false, "print JSON")
+` + "// a\u202ebidi\u202c\u200bzero" + `
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
diff --git "a/.github/workflows/caf\303\251 \"x\".yml" "b/.github/workflows/caf\303\251 \"x\".yml"
deleted file mode 100644
index 1111111..0000000
--- "a/.github/workflows/caf\303\251 \"x\".yml"
+++ /dev/null
@@ -1 +0,0 @@
-on: push
`
