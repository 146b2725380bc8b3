//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bench is a directory with an agent and settings, and the program itself, built as it is shipped.
type bench struct {
	*testing.B
	dir, ralph string
}

func newBench(b *testing.B, agent, settings string) bench {
	b.Helper()
	w := bench{B: b, dir: b.TempDir(), ralph: filepath.Join(b.TempDir(), "ralph")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", w.ralph, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	w.write("agent", agent, 0o755)
	w.write(".ralph/settings.json", settings, 0o644)
	return w
}

func (w bench) write(name, text string, mode os.FileMode) {
	w.Helper()
	put(w, filepath.Join(w.dir, name), text, mode)
}

// start begins a command. Its standard output goes through a pipe that is read at once.
func (w bench) start(name string, args ...string) *exec.Cmd {
	w.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	cmd.Stdout = discard{}
	cmd.Stderr = new(bytes.Buffer)
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return cmd
}

// ended waits for a command, which must end with a code.
func (w bench) ended(cmd *exec.Cmd, code int) {
	w.Helper()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.Fatalf("%s ended with exit code %d, want %d:\n%s", cmd, got, code, cmd.Stderr)
	}
}

// discard is not io.Discard, which os/exec would make the null device of.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// cost is what a command took, with everything it started.
type cost struct{ wall, cpu time.Duration }

func (w bench) run(code int, name string, args ...string) cost {
	w.Helper()
	begun := time.Now()
	cmd := w.start(name, args...)
	w.ended(cmd, code)
	return cost{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// own is what a process took itself, without what it started.
type own struct {
	cpu  time.Duration
	peak float64 // MB
}

// watch looks at a process again and again until it has gone. The figures of rusage are those of its children too, and
// at least the memory of whoever started it.
func watch(pid int) func() own {
	var last own
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if peak := megabytes(pid, "VmHWM"); peak > 0 {
				last = own{ticks(pid), peak}
			}
		}
	}()
	return func() own { close(done); <-gone; return last }
}

// megabytes is a figure of a process's memory; 0 when it has gone.
func megabytes(pid int, name string) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, found := strings.Cut(string(status), name+":"); found {
		kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		return kilobytes / 1024
	}
	return 0
}

// ticks is the processor time of a process, which the system tells in hundredths of a second.
func ticks(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third on
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

const (
	instant   = "#!/bin/sh\necho working\n"
	oneTrue   = `{"agent": {"command": "./agent"}, "guardrails": [{"command": "true"}]}`
	bareLoop  = `i=0; while [ $i -lt %d ]; do echo x | ./agent > /dev/null; sh -c true; i=$((i+1)); done`
	perSample = 200
)

// BenchmarkPromptIteration is an iteration of a run of a prompt, with an instant agent and one guardrail that says
// true, beside a shell loop that runs the same two programs and nothing else.
func BenchmarkPromptIteration(b *testing.B) {
	w := newBench(b, instant, oneTrue)
	var own, bare cost
	for b.Loop() {
		mine := w.run(1, w.ralph, "run", "-p", "x", "--fresh", "-m", strconv.Itoa(perSample))
		theirs := w.run(0, "sh", "-c", fmt.Sprintf(bareLoop, perSample))
		own.wall, own.cpu = own.wall+mine.wall, own.cpu+mine.cpu
		bare.wall, bare.cpu = bare.wall+theirs.wall, bare.cpu+theirs.cpu
	}
	n := float64(b.N * perSample)
	report := func(d time.Duration, unit string) { b.ReportMetric(d.Seconds()*1000/n, unit) }
	report(bare.wall, "bare-wall-ms/iteration")
	report(own.wall-bare.wall, "own-wall-ms/iteration")
	report(own.cpu-bare.cpu, "own-cpu-ms/iteration")
}

// BenchmarkLateIteration compares the last hundred of a thousand iterations with the hundred after the tenth.
func BenchmarkLateIteration(b *testing.B) {
	w := newBench(b, instant, oneTrue)
	var early, late []time.Duration
	for b.Loop() {
		w.run(1, w.ralph, "run", "-p", "x", "--fresh", "-m", "1010")
		at := w.judged()
		if len(at) != 1010 {
			b.Fatalf("%d iterations ended", len(at))
		}
		for i := range 100 {
			early, late = append(early, at[11+i].Sub(at[10+i])), append(late, at[910+i].Sub(at[909+i]))
		}
	}
	slices.Sort(early)
	slices.Sort(late)
	b.ReportMetric(float64(early[len(early)/2].Microseconds())/1000, "ms-at-10")
	b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "ms-at-1000")
	b.ReportMetric(float64(late[len(late)/2])/float64(early[len(early)/2]), "ratio")
}

// judged is when each iteration of the newest run ended.
func (w bench) judged() []time.Time {
	runs, err := filepath.Glob(filepath.Join(w.dir, ".ralph/runs/*/journal.jsonl"))
	if err != nil || len(runs) == 0 {
		w.Fatal("no journal", err)
	}
	file, err := os.Open(runs[len(runs)-1])
	if err != nil {
		w.Fatal(err)
	}
	defer file.Close()
	var at []time.Time
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var record struct {
			Type string
			At   time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			w.Fatal(err)
		}
		if record.Type == "judged" {
			at = append(at, record.At)
		}
	}
	return at
}

// BenchmarkIdle is the memory of a run that waits for its agent.
func BenchmarkIdle(b *testing.B) {
	w := newBench(b, "#!/bin/sh\nexec sleep 60\n", oneTrue)
	for b.Loop() {
		cmd := w.start(w.ralph, "run", "-p", "x", "--fresh", "-m", "1")
		time.Sleep(2 * time.Second)
		b.ReportMetric(megabytes(cmd.Process.Pid, "VmRSS"), "idle-MB")
		b.ReportMetric(megabytes(cmd.Process.Pid, "RssAnon"), "idle-own-MB") // without the pages of the program
		// once stops the run after the agent, twice stops the agent
		_ = cmd.Process.Signal(syscall.SIGTERM)
		time.Sleep(200 * time.Millisecond) // two at once would be one
		_ = cmd.Process.Signal(syscall.SIGTERM)
		w.ended(cmd, 130)
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return n
}

// BenchmarkStream is 200 MB of claude's events in one iteration, through the whole program and shown on a pipe.
func BenchmarkStream(b *testing.B) {
	const size = 200 << 20
	said :=
		`{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"I look at the next file now."}],` +
			`"usage":{"input_tokens":9,"output_tokens":9}},"session_id":"s"}` + "\n"
	before,
		after := `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"`,
		`"}]},"session_id":"s"}`+"\n"
	answered := func(text string) string { return before + text + after }
	for _, c := range []struct {
		name        string
		begin, each string
		end         string
	}{
		// a session's mix
		{"lines", "", strings.Repeat(said, 40) + answered(strings.Repeat("x", 2_000)) +
			answered(strings.Repeat("some code\\n", 10_000)), ""},
		{"short lines", "", said, ""},
		{"one line", before, strings.Repeat("x", 1<<10), after},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newBench(b, "", `{"agent": {"command": "./claude"}, "streamAgentOutput": true}`)
			w.write("claude", "#!/bin/sh\ncat > /dev/null\ncat stream last\n", 0o755)
			w.write("last",
				`{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"<response>DONE</response>"}]},"session_id":"s"}`+"\n"+
					`{"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>","session_id":"s"}`+
					"\n",
				0o644)
			w.repeat("stream", c.begin, c.each, size/len(c.each), c.end)
			var sum, most own
			b.SetBytes(size)
			for b.Loop() {
				cmd := w.start(w.ralph, "run", "-p", "x", "--fresh", "-m", "1")
				seen := watch(cmd.Process.Pid)
				w.ended(cmd, 0)
				last := seen()
				sum.cpu, most.peak = sum.cpu+last.cpu, max(most.peak, last.peak)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
			b.ReportMetric(sum.cpu.Seconds()/float64(b.N), "own-cpu-s/run")
			b.ReportMetric(most.peak, "peak-MB")
		})
	}
}

// repeat writes a large file piece by piece.
func (w bench) repeat(name, begin, each string, times int, end string) {
	w.Helper()
	file, err := os.Create(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	to := bufio.NewWriter(file)
	_, _ = to.WriteString(begin)
	for range times {
		_, _ = to.WriteString(each)
	}
	_, _ = to.WriteString(end)
	if err := errors.Join(to.Flush(), file.Close()); err != nil {
		w.Fatal(err)
	}
}
