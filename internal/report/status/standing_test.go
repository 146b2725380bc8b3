package status

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// docs/reports.md names every key of ralph status --json, and no other.
func TestStandingIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| key | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.\\[\\]]+)` \\| \\S").FindAllStringSubmatch(table, -1) {
		documented[m[1]] = true
	}
	there := map[string]bool{}
	keys("", reflect.TypeFor[RunStatus](), there)
	if !maps.Equal(documented, there) {
		t.Errorf("documented %v\nthere %v", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(there)))
	}
}

func keys(prefix string, of reflect.Type, found map[string]bool) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported():
		case field.Anonymous:
			keys(prefix, field.Type, found)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			keys(prefix+name+"[].", field.Type.Elem(), found)
		default:
			found[prefix+name] = true
		}
	}
}

// standings are runs in every state; the lock is the one that makes the run's process alive.
func standings() map[string]RunStatus {
	mine, free := Lock{PID: 12, Alive: true}, Lock{}
	owned := func(v report.View) report.View {
		v.State.Owner = "process 12"
		return v
	}
	paused := owned(view(sample.RunningThird()))
	paused.State.Turning = nil
	paused.State.Pause = &loop.Pause{Until: sample.Began.Add(time.Hour), Reason: "claude's usage limit is reached"}
	return map[string]RunStatus{
		"none":    NoRun("/work", "no runs in /work yet; start one with ralph run", free),
		"running": NewRunStatus(owned(view(sample.RunningFirst())), mine),
		"roles":   NewRunStatus(owned(view(sample.WithRoles())), mine), "paused": NewRunStatus(paused, mine),
		"dead":    NewRunStatus(owned(view(sample.RunningThird())), Lock{PID: 12}),
		"another": NewRunStatus(owned(view(sample.RunningThird())), Lock{PID: 13, Alive: true}), "done": NewRunStatus(owned(view(sample.Done())), free),
		"stuck": NewRunStatus(view(sample.Stuck()), free),
		"plan":  NewRunStatus(owned(view(sample.PlanRunning())), mine), "plan capped": NewRunStatus(view(sample.PlanCapped()), free), "plan done": NewRunStatus(view(sample.PlanDone()), free),
		"plan hostile": NewRunStatus(planHostile(), free), "plan large": NewRunStatus(planLarge(200, "words"), free),
		"waiting": NewRunStatus(view(sample.Waiting()), free), "hostile": NewRunStatus(hostile(), free),
	}
}

func standingTexts() string {
	var b strings.Builder
	all := standings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString("== " + name + "\n" + all[name].Text())
	}
	return b.String()
}

// unknownTimes are the keys that may be null.
var unknownTimes = regexp.MustCompile(`"(started_at|updated_at|until)":null`)

// What ralph status --json prints has every key and list, also an empty one, and no secret.
func TestStandingJSON(t *testing.T) {
	for name, st := range standings() {
		text, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(unknownTimes.ReplaceAllString(string(text), ""), "null") || strings.Contains(string(text), "sk-ant") ||
			strings.Contains(string(text), "0001-01-01") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// However much somebody writes, it stands on one line.
func TestStandingTextHasNoForeignLines(t *testing.T) {
	for name, st := range standings() {
		for line := range strings.Lines(st.Text()) {
			if !regexp.MustCompile(
				`^(task|state|stories|warning|branch|kept on|checks \(\d+\)|outcome|coder|tester|reviewer|qa|promises|stuck|cost|state file|run|next|no runs)? `).MatchString(line) {
				t.Errorf("%s: the line %q", name, line)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	sample.Goldens(t, map[string]string{"standing.txt": standingTexts(), "plan-status.txt": StandPlan(samplePlanView()).Text()})
}
