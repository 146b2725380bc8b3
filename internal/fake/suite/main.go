// Command suite runs go test with the arguments it is given and prints one line a package, the output of tests that
// failed, which tests were skipped for want of what, and the totals. RALPH_TEST_SKIPPED names a file for the list of
// these tests. With -again FILE before the arguments only the tests of such a list run.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An event is one line of go test -json: https://pkg.go.dev/cmd/test2json.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// results is what a run of go test has printed.
type results struct {
	out     io.Writer
	output  map[string]string   // of tests that have not passed, and of packages
	count   map[string]int      // of tests, by how they ended
	used    time.Duration       // of the processor
	needs   map[string][]string // skipped tests by what they need
	wanting []string            // the same, as "package test"
	others  []string            // tests skipped for another reason
}

func main() {
	started := time.Now()
	r := &results{out: os.Stdout, output: map[string]string{}, count: map[string]int{}, needs: map[string][]string{}}
	args, err := arguments(os.Args[1:])
	if err == nil {
		err = r.run(args)
	}
	if file := os.Getenv("RALPH_TEST_SKIPPED"); file != "" {
		err = errors.Join(err, os.WriteFile(file, []byte(strings.Join(r.wanting, "\n")), 0o600))
	}
	r.finish(time.Since(started))
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

// arguments are those of go test. The list of -again has a package and a test of it in each line.
func arguments(args []string) ([]string, error) {
	if len(args) < 2 || args[0] != "-again" {
		return args, nil
	}
	list, err := os.ReadFile(args[1])
	args = slices.DeleteFunc(args[2:], func(arg string) bool { return arg == "./..." })
	var names, packages []string
	for line := range strings.Lines(string(list)) {
		in, test, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, "^"+strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^")+"$")
		packages = append(packages, in)
	}
	slices.Sort(packages)
	return append(append(args, "-run", strings.Join(names, "|")), slices.Compact(packages)...), err
}

// run prints what is worth seeing while the tests run.
func (r *results) run(args []string) error {
	test := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	test.Stderr = os.Stderr
	stdout, err := test.StdoutPipe()
	if err == nil {
		err = test.Start()
	}
	if err != nil {
		return err
	}
	err = errors.Join(r.read(stdout), test.Wait())
	r.used += test.ProcessState.UserTime() + test.ProcessState.SystemTime()
	return err
}

func (r *results) read(events io.Reader) error {
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		r.add(e)
	}
}

func (r *results) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		r.output[key] += e.Output
	case "pass", "fail", "skip":
		text := r.output[key]
		delete(r.output, key)
		if e.Test == "" {
			r.endPackage(e, text)
		} else {
			r.endTest(e, text)
		}
	}
}

// endTest counts a test. Of one that failed it prints the output at once.
func (r *results) endTest(e event, text string) {
	r.count[e.Action]++
	_, need, needs := strings.Cut(text, ": needs ")
	need, _, _ = strings.Cut(need, "\n")
	switch {
	case e.Action == "fail":
		fmt.Fprint(r.out, text)
	case e.Action == "skip" && needs:
		r.needs[need] = append(r.needs[need], e.Test)
		r.wanting = append(r.wanting, e.Package+" "+e.Test)
	case e.Action == "skip":
		r.others = append(r.others, e.Test)
	}
}

// endPackage prints the line of a package that has tests, and everything of one that failed outside its tests.
func (r *results) endPackage(e event, text string) {
	for line := range strings.Lines(text) {
		if e.Action == "fail" || strings.HasPrefix(line, "ok ") {
			fmt.Fprint(r.out, line)
		}
	}
}

// finish prints what was not tried, and the totals as the last line.
func (r *results) finish(wall time.Duration) {
	if len(r.needs) > 0 {
		var list []string
		for _, need := range slices.Sorted(maps.Keys(r.needs)) {
			list = append(list, fmt.Sprintf("%s (%d: %s)", need, len(r.needs[need]), strings.Join(r.needs[need], ", ")))
		}
		fmt.Fprintf(r.out, "not tried: %d tests need what is not installed here: %s\n", len(r.wanting), strings.Join(list, "; "))
	}
	if len(r.others) > 0 {
		fmt.Fprintf(r.out, "skipped for other reasons: %s\n", strings.Join(r.others, ", "))
	}
	fmt.Fprintf(r.out, "%s of wall time, %s of processor time\n", wall.Round(time.Second), r.used.Round(time.Second))
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.count["pass"], r.count["fail"], r.count["skip"])
}
