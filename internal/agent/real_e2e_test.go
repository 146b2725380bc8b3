//go:build e2e

package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/loop"
)

// testKey is the credential that every agent has; the stand-in for the model takes no other.
const testKey = "sk-test-key"

// real is a real agent CLI and what points it at a stand-in for its model, as its users would do it.
type real struct {
	name  string
	by    string // "/gateway", when a gateway carries it
	key   string // the environment name of its credential
	point func(o *agent.Options, url string, write func(path, text string))
}

// reals are the real CLIs that a stand-in can be played to.
var reals = []real{
	{"claude", "", "ANTHROPIC_API_KEY", func(o *agent.Options, url string, _ func(string, string)) {
		o.Parent = append(o.Parent, "ANTHROPIC_BASE_URL="+url)
	}},
	{"codex", "", "OPENAI_API_KEY", func(o *agent.Options, url string, _ func(string, string)) {
		provider := fmt.Sprintf(
			`model_providers.test={name="test",base_url="%s/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`, url)
		o.Flags, o.Model = append(o.Flags, "-c", "model_provider=test", "-c", provider), "gpt-5.5"
	}},
	{"gemini", "", "GEMINI_API_KEY", func(o *agent.Options, url string, write func(string, string)) {
		write(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"maxAttempts":2}}`)
		o.Extra, o.Model = append(o.Extra, "GOOGLE_GEMINI_BASE_URL="+url), "gemini-2.5-flash"
	}},
	{"opencode", "", "OPENAI_API_KEY", func(o *agent.Options, url string, write func(string, string)) {
		write("test.json", fmt.Sprintf(
			`{"provider":{"test":{"npm":"@ai-sdk/openai-compatible","name":"test","models":{"m":{}},
			"options":{"baseURL":"%s/v1","apiKey":"{env:OPENAI_API_KEY}"}}}}`, url))
		o.Extra, o.Model = append(o.Extra, "OPENCODE_CONFIG="+filepath.Join(o.Home, "test.json"),
			"OPENCODE_DISABLE_MODELS_FETCH=1"), "test/m"
	}},
}

// installed is where a real CLI is. Each is installed once, into .tools at the root of the repository.
func installed(t *testing.T, name string) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	install := exec.Command("sh", filepath.Join("..", "..", "testdata", "install-agents.sh"), name)
	var said bytes.Buffer
	install.Stderr = &said
	out, err := install.Output()
	if err != nil {
		left := fmt.Sprintf("not run: the real %s cannot be had: %v\n%s", name, err, said.String())
		if slices.Contains(strings.Fields(os.Getenv("CI_E2E_AGENTS")), name) {
			t.Fatal(left)
		}
		leftOut(t, left)
	}
	return strings.TrimSpace(string(out))
}

var (
	installing sync.Mutex
	notRun     = map[string]bool{} // why tests were left out
)

func leftOut(t *testing.T, why string) {
	t.Helper()
	notRun[why] = true
	t.Skip(why)
}

// TestMain says at the end what was not run, so that it does not drown in the output.
func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	for _, why := range slices.Sorted(maps.Keys(notRun)) {
		fmt.Println(why)
	}
	os.Exit(code)
}

// bench is one real agent, readied against a scripted model.
type bench struct {
	*agent.Agent
	options agent.Options
	model   *model.Server
	dir     string // a fresh repository, where it works
	home    string // a fresh HOME
}

// ready readies an agent with a script. The options that are set stay.
func ready(t *testing.T, r real, o agent.Options, script ...model.Turn) bench {
	t.Helper()
	bin := installed(t, r.name)
	b := bench{model: model.New(script...), dir: scratch(t), home: o.Home}
	if b.home == "" {
		b.home = scratch(t)
	}
	t.Cleanup(b.model.Close)
	b.model.Key = testKey
	git := exec.Command("git", "init", "-q", b.dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o.Command, o.Dir, o.Home, o.Completion = bin, b.dir, b.home, "DONE"
	o.Parent = append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), // gemini's node is beside it
		"TMPDIR="+t.TempDir()) // codex makes no programs in a home below it, and our clone may lie in /tmp
	o.LogFile = filepath.Join(t.TempDir(), "turn.log")
	if o.Keys == nil {
		o.Keys = map[string]string{r.key: testKey}
	}
	if o.Timeout == 0 {
		o.Timeout = 4 * time.Minute // opencode tries again for up to two
	}
	r.point(&o, b.model.URL, func(path, text string) { put(t, b.home, path, text) })
	var err error
	b.options = o
	if b.Agent, err = agent.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if unknown := b.model.Unknown(); len(unknown) > 0 {
			t.Errorf("the model was asked for %v", unknown)
		}
		if t.Failed() {
			log, _ := os.ReadFile(o.LogFile)
			t.Logf("log of %d bytes, its end:\n%s", len(log), log[max(0, len(log)-4000):])
		}
	})
	return b
}

// takeIdle runs a turn that the idle limit may end. A limit that is short enough for a test may end it on a busy machine
// before it has come to what the test is about: that is tried again with a longer one.
func takeIdle(t *testing.T, r real, o agent.Options, script []model.Turn, enough func(bench, loop.Turn) bool) (turn loop.Turn) {
	t.Helper()
	for _, o.Idle = range []time.Duration{30 * time.Second, 90 * time.Second, 3 * time.Minute} {
		b := ready(t, r, o, script...)
		if turn = b.take(t.Context(), t, "Say something."); enough(b, turn) {
			return turn
		}
		t.Logf("it did not come so far in %s: %s", o.Idle, turn.Reason)
	}
	t.Fatal("it never came so far")
	return turn
}

// scratch is a fresh directory outside of the system's temporary one, under which codex makes no sandbox.
func scratch(t *testing.T) string {
	t.Helper()
	tools := must(filepath.Abs(filepath.Join("..", "..", ".tools")))
	dir := must(os.MkdirTemp(tools, "e2e-"))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// put writes a file with the directories it needs.
func put(t *testing.T, dir, path, text string) {
	t.Helper()
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b bench) exists(name string) bool {
	_, err := os.Stat(filepath.Join(b.dir, name))
	return err == nil
}

// take takes a turn, which must leave no process behind.
func (b bench) take(ctx context.Context, t *testing.T, prompt string) loop.Turn {
	t.Helper()
	turn := must(b.Turn(ctx, prompt))
	t.Logf("%s %q in %s, %+v", turn.Class, turn.Reason, turn.Duration.Round(10*time.Millisecond), turn.Usage)
	if left := strays(b.home); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	return turn
}

// strays lists the processes that have HOME in their environment, by their command lines. A process that has ended and
// was not waited for yet has no environment. Where there is no /proc, none are found.
func strays(home string) (found []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if environ, _ := os.ReadFile(path); bytes.Contains(environ, []byte("HOME="+home+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(path))+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// eachReal runs a test with real agents, and beside all others: they wait most of the time.
func eachReal(t *testing.T, reals []real, test func(t *testing.T, r real)) {
	t.Helper()
	if strings.Count(t.Name(), "/") == 0 {
		t.Parallel()
	}
	for _, r := range reals {
		t.Run(r.name+r.by, func(t *testing.T) {
			t.Parallel()
			test(t, r)
		})
	}
}
