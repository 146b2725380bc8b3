package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestServeNotifies: the server tells the places of its environment how a run ended; neither the process of the job nor
// its agent ever has the addresses.
func TestServeNotifies(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	var mu sync.Mutex
	var told []map[string]any
	place := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Errorf("%v: %s", err, text)
		}
		mu.Lock()
		defer mu.Unlock()
		told = append(told, m)
	}))
	t.Cleanup(place.Close)
	seen := s.write("seen", "", 0o666)
	s.write("agent", "#!/bin/sh\ncat >/dev/null; env > "+seen+"; echo x > new.txt\necho '<response>DONE</response>'\n", 0o755)
	s.environ = append(s.environ, "RALPH_NOTIFY_TEAM="+place.URL+"/made-up-address")
	s.start()
	var jobs []string // environments of processes of jobs
	s.label("Add new.txt")
	s.until("somebody is told", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			words, _ := os.ReadFile(file)
			if strings.HasSuffix(string(words), "ralph\x00work\x00") {
				environ, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
				jobs = append(jobs, string(environ))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		return len(told) > 0
	})
	mu.Lock()
	defer mu.Unlock()
	m := told[0]
	page, _ := m["page"].(string)
	if m["kind"] != "done" || m["repository"] != "alice/demo" || !strings.HasPrefix(page, s.url+"/runs/") || len(told) != 1 {
		t.Errorf("%v", told)
	}
	environ, err := os.ReadFile(seen)
	if err != nil || len(environ) == 0 || strings.Contains(string(environ), "RALPH_NOTIFY") {
		t.Errorf("the agent has %s, %v", environ, err)
	}
	if len(jobs) == 0 || strings.Contains(strings.Join(jobs, ""), "made-up-address") {
		t.Errorf("of %d looks at jobs, one found the address", len(jobs))
	}
	if strings.Contains(s.log(), "made-up-address") {
		t.Error("the log has the address")
	}
}
