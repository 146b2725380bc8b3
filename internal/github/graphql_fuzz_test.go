package github

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// sameAnswer is a GitHub that gives the same answer to everything.
type sameAnswer []byte

func (a sameAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(a))}, nil
}

// clientOf is a client of such a GitHub.
func clientOf(answer []byte) *Client {
	return &Client{o: Options{Repo: event.Repo{Owner: "alice", Name: "demo"}},
		api: github.NewClient(&http.Client{Transport: sameAnswer(answer)})}
}

// graphQLAnswers are answers to our questions, whole and halved.
var graphQLAnswers = []string{
	`{"data":{"repository":{"issue":{"lastEditedAt":null}}}}`,
	`{"data":{"repository":{"issue":{"lastEditedAt":"2026-11-21T05:30:00Z"}}}}`,
	`{"data":{"repository":{"issue":{}}}}`, `{"data":{"repository":{"issue":null}}}`, `{"data":{}}`, `{}`, `null`,
	`[]`, ``, `{"data":{"viewer":{}}}`, `{"data":{"repository":{"issue":{"lastEditedAt":5}}}}`,
	`{"data":null,"errors":[{"type":"FORBIDDEN","message":"no"}]}`, `{"errors":[]}`, `{"errors":[{}],"data":{}}`,
	`{"data":{"node":{"issue":{"closed":true},"lastEditedAt":null,"editor":null}}}`,
	`{"data":{"node":{"issue":{"closed":false},"lastEditedAt":"2026-11-21T05:30:00Z",` +
		`"editor":{"__typename":"Bot","login":"app"}}}}`,
	`{"data":{"node":{"issue":{"closed":false}}}}`, `{"data":{"node":{"lastEditedAt":null}}}`,
	`{"data":{"node":{"lastEditedAt":"2026-11-21T05:30:00Z","editor":{"__typename":"Bot"}}}}`,
	`{"data":{"viewer":{"login":"github-actions"}}}`, `{"data":{"viewer":{"login":null}}}`,
	`{"data":{"repository":{"pullRequest":{"reviewThreads":{"pageInfo":{"hasNextPage":true,"endCursor":"x"},` +
		`"nodes":[{"path":"a","comments":{"nodes":[{"databaseId":1,"author":{"__typename":"Bot","login":"b"}}]}}]}}}}}`,
	`{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[{"comments":{"nodes":[{"author":{}}]}}]}}}}}`,
}

// FuzzGraphQL: whatever is answered, nobody is named whom the answer does not name, and what it does not say is taken
// for the worst: a text for edited, who has edited it for unknown.
func FuzzGraphQL(f *testing.F) {
	for _, answer := range graphQLAnswers {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		c, ctx := clientOf(answer), context.Background()
		said := texts(answer)
		edited, err := c.LastEdited(ctx, 4)
		if err == nil && edited.IsZero() && !said["lastEditedAt"] {
			t.Errorf("never edited, says nobody: %q", answer)
		}
		who, ok, _, err := c.LastEditor(ctx, "id")
		if (!ok || err == nil) && !said["lastEditedAt"] || !ok && err != nil {
			t.Errorf("whether it was edited says nobody, %v: %q", err, answer)
		}
		invented(t, said, who)
		self, err := c.viewer(ctx)
		if invented(t, said, event.Actor{Login: self}); err == nil && (self == "" || self == "[bot]") {
			t.Errorf("we are %q: %q", self, answer)
		}
		threads, err := c.Threads(ctx, 7)
		if err != nil && threads != nil {
			t.Errorf("%v, and %d threads", err, len(threads))
		}
		for _, thread := range threads {
			if len(thread.Comments) == 0 {
				t.Errorf("nobody says anything: %q", answer)
			}
			for _, one := range thread.Comments {
				invented(t, said, one.Author)
			}
		}
	})
}

// texts are the strings and names in a JSON text.
func texts(answer []byte) map[string]bool {
	all := map[string]bool{"": true}
	from := json.NewDecoder(bytes.NewReader(answer))
	for {
		token, err := from.Token()
		if err != nil {
			return all
		}
		if s, ok := token.(string); ok {
			all[s] = true
			if strings.EqualFold(s, "lastEditedAt") { // encoding/json takes any case
				all["lastEditedAt"] = true
			}
		}
	}
}

// invented complains about a login that no answer has.
func invented(t *testing.T, said map[string]bool, who event.Actor) {
	t.Helper()
	plain, app := strings.CutSuffix(who.Login, "[bot]")
	if !said[who.Login] && (plain == "" || !said[plain]) || who.Bot && !app && who.Login != "" {
		t.Errorf("%+v is invented", who)
	}
}
