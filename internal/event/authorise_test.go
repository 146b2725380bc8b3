package event

import (
	"errors"
	"strings"
	"testing"
)

func may(levels map[string]string) map[string]Permission {
	out := map[string]Permission{}
	for login, level := range levels {
		out[login] = Permission{Level: level}
	}
	return out
}

// TestAuthorizeEdit has a row for each who may have edited a comment of ralph's. An empty want lets the edit count.
func TestAuthorizeEdit(t *testing.T) {
	facts := Facts{Self: "github-actions[bot]", Permissions: may(map[string]string{"alice": "write", "bob": "read"})}
	facts.Permissions["carol"] = Permission{Err: errors.New("502")}
	for _, tt := range []struct {
		name   string
		editor Actor
		want   string
	}{
		{"a writer", Actor{Login: "Alice"}, ""},
		{"a reader", Actor{Login: "bob"}, "bob has read permission here"},
		{"an account that is gone", Actor{}, "the last editor is not known"},
		{"the lookup failed", Actor{Login: "carol"}, "could not be looked up (502)"},
		{"nobody looked it up", Actor{Login: "dave"}, "was not read"},
		{"a bot", Actor{Login: "helper[bot]", Bot: true}, "is a bot that is not listed in allowed_bots"},
		{"a bot that may", Actor{Login: "robot[bot]", Bot: true}, ""},
		{"another workflow", Actor{Login: "github-actions[bot]", Bot: true}, "another workflow writes as that account"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refusal := AuthorizeEdit(tt.editor, facts, Rules{AllowedBots: []string{"robot[bot]"}})
			if (refusal == nil) != (tt.want == "") || refusal != nil && !strings.Contains(refusal.Reason, tt.want) {
				t.Errorf("%+v, want %q", refusal, tt.want)
			}
		})
	}
}
