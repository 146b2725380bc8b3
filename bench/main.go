// Bench measures what loops around coding agents call done: 40 bugs, agents that follow a script, and hidden tests on what
// would be merged. docs/internals/benchmarks.md has its table.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"
)

// What the program is asked for.
var (
	agent     = flag.String("agent", "", "be the agent, and follow the script in `FILE`")
	ralph     = flag.String("ralph", "../bin/ralph", "the `PROGRAM` that the adapter of ralph runs")
	harnesses = flag.String("harness", "harness/*", "the loops to measure: `PATTERNS` of adapters, with commas between")
	only      = flag.String("only", "", "play only tasks and classes whose \"task/class\" matches this `EXPRESSION`")
	turns     = flag.Int("turns", 6, "how many turns a harness can take")
	limit     = flag.Duration("timeout", 3*time.Minute, "the time that a run can take")
	jobs      = flag.Int("j", 2, "how many runs play at the same time")
	bound     = flag.Duration("for", 24*time.Hour, "start no run after this time: the table has what was played until then")
	results   = flag.String("results", "results.jsonl", "a `FILE` that keeps the results: runs that it has are not played again")
)

func main() {
	flag.Parse()
	do := measure
	if *agent != "" {
		do = func() error { return act(*agent, flag.Args()) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure() error {
	all, absent, err := tasks()
	if err != nil {
		return err
	}
	for _, a := range absent {
		fmt.Fprintln(os.Stderr, "skipped:", a)
	}
	b, err := prepare()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	var loops []string
	for pattern := range strings.SplitSeq(*harnesses, ",") {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no harness matches %q: give -harness the names of programs", pattern)
		}
		loops = append(loops, files...)
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	played, err := read(*results)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, r := range played {
		has[r.Harness+"/"+r.Task+"/"+r.Behavior] = true
	}
	var queue []func() (result, error)
	for i := range len(all) * len(behaviors) { // through languages and classes at the same time, so that a part is a fair sample
		t, v := all[7*i%len(all)], behaviors[(i+i/len(all))%len(behaviors)]
		for _, h := range loops {
			if chosen.MatchString(t.name+"/"+v.name) && !has[filepath.Base(h)+"/"+t.name+"/"+v.name] {
				queue = append(queue, func() (result, error) { return b.play(h, t, v) })
			}
		}
	}
	fresh, err := playAll(queue)
	if err != nil {
		return err
	}
	fmt.Print(table(append(played, fresh...)))
	return nil
}

// prepare makes what all runs share. What the agent prints is a recording of the real one.
func prepare() (*bed, error) {
	b := &bed{}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	recorded, err := txtar.ParseFile("../testdata/agents/claude.txtar")
	if err != nil {
		return nil, err
	}
	for _, f := range recorded.Files {
		switch f.Name {
		case "bash.jsonl":
			b.streams[0] = string(f.Data)
		case "no-auth.jsonl":
			b.streams[1] = string(f.Data)
		}
	}
	program, err := filepath.Abs(*ralph)
	if err != nil {
		return nil, err
	}
	return b, os.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// playAll plays runs, some at the same time, and appends each result to the file as it comes.
func playAll(queue []func() (result, error)) ([]result, error) {
	file, err := os.OpenFile(*results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		fresh  []result
		failed error
		places = make(chan struct{}, *jobs)
	)
	last := time.Now().Add(*bound)
	for _, run := range queue {
		if time.Now().After(last) {
			break
		}
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			r, err := run()
			text, _ := json.Marshal(r)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s, %s, %s: %w", r.Harness, r.Task, r.Behavior, err))
				return
			}
			_, err = fmt.Fprintf(file, "%s\n", text)
			failed = errors.Join(failed, err)
			fresh = append(fresh, r)
			fmt.Fprintf(os.Stderr, "%d/%d %s %s, %s: done=%t right=%t turns=%d %.1fs\n", len(fresh), len(queue), r.Harness, r.Task,
				r.Behavior, r.Done, r.Right, r.Turns, r.Seconds)
		})
	}
	wg.Wait()
	return fresh, errors.Join(failed, file.Close())
}

func read(file string) (all []result, err error) {
	text, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for lines := json.NewDecoder(text); err == nil; {
		var r result
		if err = lines.Decode(&r); err == nil {
			all = append(all, r)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, text.Close()
}

// names are the harnesses of results, by name.
func names(all []result) (names []string) {
	for _, r := range all {
		if !slices.Contains(names, r.Harness) {
			names = append(names, r.Harness)
		}
	}
	slices.Sort(names)
	return names
}
