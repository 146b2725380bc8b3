package failure

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

// recordings are failures recorded from real tools: <tool>/<project>/<failure>/<n>.txt. What is in one directory is
// one failure, recorded under other circumstances each time; two directories of one project are two failures.
func recordings(t testing.TB) map[string]string {
	files := archive.Files(t, "../../testdata/failures/*.txtar")
	maps.DeleteFunc(files, func(name, _ string) bool { return path.Base(name) == "command" })
	return files
}

// How many of the pairs must be judged rightly (in a hundred): recordings of one failure, of two failures, and of one
// failure of which one recording was made in a terminal and the other into a pipe.
const (
	sameBar      = 95.0
	differentBar = 99.5
	terminalBar  = 95.0
)

// recorded is one failure of one project, with the signatures of its recordings.
type recorded struct {
	project, name string
	files, hashes []string
	terminal      []bool // whether each was made in a terminal
	bytes         int
}

// score counts pairs.
type score struct{ right, all int }

func (s *score) count(right bool) {
	s.all++
	if right {
		s.right++
	}
}

func (s score) percent() float64 {
	if s.all == 0 {
		return 100
	}
	return 100 * float64(s.right) / float64(s.all)
}

func (s score) String() string {
	return fmt.Sprintf("%d of %d pairs, %.2f %%", s.right, s.all, s.percent())
}

// TestCorpus: the same failure gives one signature, two failures of a project give two.
func TestCorpus(t *testing.T) {
	corpus, _ := readCorpus(t)
	same, terminal, different, offenders := judge(corpus)
	missed := false
	for _, rate := range []struct {
		name string
		score
		bar float64
	}{
		{"the same failure", same, sameBar},
		{"the same failure in a terminal and in a pipe", terminal, terminalBar},
		{"different failures", different, differentBar},
	} {
		t.Logf("%s: %s", rate.name, rate.score)
		if rate.percent() < rate.bar {
			missed = true
			t.Errorf("%s: %s are judged rightly; the bar is %.1f %%", rate.name, rate.score, rate.bar)
		}
	}
	if missed || testing.Verbose() {
		t.Log(strings.Join(offenders, "\n"))
	}
}

// BenchmarkCorpus reports both rates, and how long a megabyte takes.
func BenchmarkCorpus(b *testing.B) {
	var corpus []recorded
	var spent time.Duration
	rounds, size := 0, 0
	for b.Loop() {
		var took time.Duration
		corpus, took = readCorpus(b)
		spent += took
		rounds++
	}
	for _, r := range corpus {
		size += r.bytes
	}
	same, terminal, different, _ := judge(corpus)
	b.ReportMetric(same.percent(), "%same")
	b.ReportMetric(terminal.percent(), "%terminal")
	b.ReportMetric(different.percent(), "%different")
	b.ReportMetric(float64(spent.Milliseconds())/float64(rounds)/(float64(size)/1e6), "ms/MB")
}

func readCorpus(t testing.TB) (corpus []recorded, spent time.Duration) {
	t.Helper()
	files := recordings(t)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		text := files[file]
		began := time.Now()
		hash := Signature("", text)
		spent += time.Since(began)
		dir := path.Dir(file)
		if len(corpus) == 0 || path.Join(corpus[len(corpus)-1].project, corpus[len(corpus)-1].name) != dir {
			corpus = append(corpus, recorded{project: path.Dir(dir), name: path.Base(dir)})
		}
		last := &corpus[len(corpus)-1]
		last.files, last.hashes, last.bytes = append(last.files, file), append(last.hashes, hash), last.bytes+len(text)
		last.terminal = append(last.terminal, strings.Contains(text, "\r\n"))
	}
	return corpus, spent
}

// judge compares all pairs of recordings within each project; terminal are those of same that come one from a terminal
// and one from a pipe.
func judge(corpus []recorded) (same, terminal, different score, offenders []string) {
	for i, a := range corpus {
		for j, hash := range a.hashes {
			for k := range a.hashes[:j] {
				right := a.hashes[k] == hash
				same.count(right)
				if a.terminal[j] != a.terminal[k] {
					terminal.count(right)
				}
				if !right && k == 0 {
					offenders = append(offenders, "two signatures: "+a.files[0]+" "+a.files[j])
				}
			}
		}
		for _, b := range corpus[i+1:] {
			if a.project != b.project {
				continue
			}
			before := different.all - different.right
			for _, x := range a.hashes {
				for _, y := range b.hashes {
					different.count(x != y)
				}
			}
			if different.all-different.right > before {
				offenders = append(offenders, "one signature: "+path.Join(a.project, a.name)+" "+b.name)
			}
		}
	}
	return same, terminal, different, offenders
}

// TestReadOnce: what is asked of an output does not depend on what was asked of it before.
func TestReadOnce(t *testing.T) {
	for _, text := range recordings(t) {
		once := Read(text)
		signature, found, missing := once.Signature("test"), once.Findings(), once.MissingNames()
		if signature != Signature("test", text) || !slices.Equal(found, Read(text).Findings()) ||
			!slices.Equal(missing, Read(text).MissingNames()) || once.Signature("test") != signature {
			t.Errorf("an output that is read once says something else:\n%.500s", text)
		}
	}
}

// BenchmarkRead is a failure's signature, and all that a check asks of it: how long each takes of the most that is read.
func BenchmarkRead(b *testing.B) {
	texts := recordings(b)
	bytes := 0
	for _, text := range texts {
		bytes += len(text)
	}
	for name, ask := range map[string]func(Output){
		"signature": func(said Output) { said.Signature("test") },
		"all": func(said Output) {
			said.Findings()
			said.MissingNames()
			said.Signature("test")
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, text := range texts {
					ask(Read(text))
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/float64(bytes)*(128<<10), "ms/128KiB")
		})
	}
}
