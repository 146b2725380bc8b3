package derive

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// planAnswer is what an agent says that is asked for a plan.
type planAnswer struct {
	Questions []string        `json:"questions"`
	PRD       string          `json:"prd"`
	Tasks     json.RawMessage `json:"tasks"`

	raw string // as it said it
}

// asks reports whether it wants to know something, instead of giving a plan.
func (a planAnswer) asks() bool { return len(a.Questions) > 0 }

// readPlanAnswer reads the answer of a turn: its form, or the JSON object with which its words end. redact comes first:
// what is derived is committed.
func readPlanAnswer(t loop.Turn, redact func(string) string) (planAnswer, []string) {
	said := t.Structured
	if said == "" {
		said = t.Text
	}
	said = redact(said)
	a := planAnswer{raw: said}
	object := planObject(said)
	if object == "" {
		problem := "the answer holds no JSON object with the key tasks"
		if len(t.Text) >= loop.TextBytes-4 {
			problem += fmt.Sprintf(
				"; of an answer with other words only the last %d bytes are read: answer with nothing but the object",
				loop.TextBytes,
			)
		}
		return a, []string{problem}
	}
	var read struct {
		Questions *[]string       `json:"questions"`
		PRD       *string         `json:"prd"`
		Tasks     json.RawMessage `json:"tasks"`
	}
	if err := json.Unmarshal([]byte(object), &read); err != nil {
		return a, []string{fmt.Sprintf("the answer's JSON object cannot be read: %v", err)}
	}
	if read.Questions != nil {
		for _, q := range *read.Questions {
			if q = strings.TrimSpace(q); q != "" {
				a.Questions = append(a.Questions, q)
			}
		}
	}
	if read.PRD != nil {
		a.PRD = strings.TrimSpace(*read.PRD) + "\n"
	}
	a.Tasks = read.Tasks
	return a, nil
}

// planObject is the JSON object of an answer, with words before it or a fence around it; empty when there is none.
func planObject(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimSuffix(text, "```"))
	if !strings.HasSuffix(text, "}") {
		return ""
	}
	for i, tried := strings.Index(text, "{"), 0; i >= 0 && tried < 100; tried++ {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text[i:]), &object) == nil {
			if _, ok := object["tasks"]; ok {
				return text[i:]
			}
			if _, ok := object["questions"]; ok {
				return text[i:]
			}
		}
		next := strings.Index(text[i+1:], "{")
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return ""
}

// Schema is the JSON schema of an answer. OpenAI takes none in which a property has no type or may be left out.
const Schema = `{"type":"object","additionalProperties":false,"required":["questions","prd","tasks"],"properties":{` +
	`"questions":{"type":"array","items":{"type":"string"}},"prd":{"type":"string"},"tasks":{"anyOf":[{"type":"null"},` +
	`{"type":"object","additionalProperties":false,"required":["project","branchName","description","verifyCommands","userStories"],"properties":{` +
	`"project":{"type":"string"},"branchName":{"type":"string"},"description":{"type":"string"},` +
	`"verifyCommands":{"type":"array","items":{"type":"string"}},"userStories":{"type":"array","items":` +
	`{"type":"object","additionalProperties":false,"required":["id","title","description","acceptanceCriteria","priority","passes","reviewStatus",` +
	`"reviewCount","reviewFeedback","notes","dependsOn"],"properties":{"id":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},` +
	`"acceptanceCriteria":{"type":"array","items":{"type":"string"}},"priority":{"type":"integer"},"passes":{"type":"boolean"},` +
	`"reviewStatus":{"type":"null"},"reviewCount":{"type":"integer"},"reviewFeedback":{"type":"string"},"notes":{"type":"string"},` +
	`"dependsOn":{"type":"array","items":{"type":"string"}}}}}}}]}}}`
