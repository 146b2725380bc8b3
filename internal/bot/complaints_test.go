package bot

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// What users of such bots complain about, as far as no other test holds it: see docs/internals/complaints.md.

// TestAgentReadsWhatWasMeant: the text as it stood when it was asked for, of people with write access or of those that an
// input names, as it is seen (B-13, B-14). The pull request is there with the first commit, as a draft that will close the
// issue (B-19).
func TestAgentReadsWhatWasMeant(t *testing.T) {
	t.Parallel()
	for by, not := range map[string]string{"": "STRANGE", "mallory": "MEANT"} {
		t.Run("comments by "+by, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["include_comments_by"] = by
			now := time.Now().UTC()
			w.gh.EditIssue(owner, name, w.issue, "Make add add", "It subtracts.<!-- HIDDEN -->")
			for _, c := range []fake.Comment{
				{Author: "alice", Body: "MEANT", CreatedAt: now.Add(-time.Hour)},
				{Author: "mallory", Body: "STRANGE", CreatedAt: now.Add(-time.Hour)},
				{Author: "alice", Body: "LATER", CreatedAt: now.Add(time.Hour)},
				{Author: "alice", Body: "EDITED", CreatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(time.Hour)},
			} {
				w.gh.AddComment(owner, name, w.issue, c)
			}
			event, payload := w.labeled()
			w.gh.EditIssue(owner, name, w.issue, "SWAPPED", "SWAPPED")
			told := w.shared("told")
			w.inputs["agent"], w.inputs["max_iterations"] = w.script("agent",
				"tee -a "+told+` > /dev/null; date +%N > x; echo "<response>DONE</response>"`), "1"
			w.must(loop.Capped)(w.action(context.Background(), event, payload))
			read := w.file("told")
			for _, word := range []string{"Make add add", "It subtracts.", "MEANT", "STRANGE", "HIDDEN", "LATER", "EDITED", "SWAPPED"} {
				meant := slices.Contains([]string{"Make add add", "It subtracts.", "MEANT", "STRANGE"}, word) && word != not
				if strings.Contains(read, word) != meant {
					t.Errorf("the agent reads %s: %v", word, !meant)
				}
			}
			if prs := w.gh.Pulls(owner, name); len(prs) != 1 || !prs[0].Draft || !strings.Contains(prs[0].Body, "Closes #1") {
				t.Errorf("pull requests: %+v", prs)
			}
		})
	}
}
