//go:build e2e

package agent_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestRealAmpWithoutAKey tries how far amp comes without its makers' servers, where its models run: to its refusal.
func TestRealAmpWithoutAKey(t *testing.T) {
	servers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"ok":false,"error":{"code":"invalid_api_key","message":"invalid API key"}}`))
	}))
	defer servers.Close()
	for name, keys := range map[string]map[string]string{"none": nil, "wrong": {"AMP_API_KEY": testKey}} {
		t.Run(name, func(t *testing.T) {
			bin, home := installed(t, "amp"), scratch(t)
			a, err := agent.New(agent.Options{Command: bin, Dir: scratch(t), Host: agent.Host{Home: home, Keys: keys, Parent: append(os.Environ(), "AMP_URL="+servers.URL)}, Answer: agent.Answer{Completion: "DONE"},
				Bounds: agent.Bounds{Timeout: time.Minute},
			})
			if err != nil {
				t.Fatal(err)
			}
			turn := bench{Agent: a, home: home}.take(t.Context(), t, "Say something.")
			if turn.Class != loop.Auth || turn.Reason == "" {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}
