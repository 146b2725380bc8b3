package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aMessage is one that has everything.
func aMessage() Message {
	cost := 0.25
	return Message{Kind: "failed", Title: "ralph: Add a greeting: Stuck after 3 iterations", Text: "`go test` fails",
		Outcome: "stuck", Repository: "alice/demo", Task: "issue-7", Run: "r-1", Branch: "ralph/issue-7",
		PullRequest: "https://github.com/alice/demo/pull/9", Iterations: 3, CostUSD: &cost}
}

// secretPath is a part of every address: it may stand in no error.
const secretPath = "T0K3N-of-the-place"

// TestTell has a row for each kind of address, and for what goes wrong with it.
func TestTell(t *testing.T) {
	t.Parallel()
	var bodies []string
	mux := http.NewServeMux()
	take := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		_, _ = io.WriteString(w, `{}`)
	}
	mux.HandleFunc("POST /ok/"+secretPath, take)
	mux.HandleFunc("POST /moved/"+secretPath, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/ok/"+secretPath, http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /topic-"+secretPath, take) // of ntfy
	server := httptest.NewServer(mux)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	const asJSON = `"outcome":"stuck","repository":"alice/demo"`
	rows := map[string]struct {
		name, value  string
		told, failed string // a part of what arrives, of the error
	}{
		"a webhook":           {"RALPH_NOTIFY_A", server.URL + "/ok/" + secretPath, asJSON, ""},
		"a webhook that left": {"RALPH_NOTIFY_A", server.URL + "/none/" + secretPath, "", "answered 404"},
		"no redirect is followed": {"RALPH_NOTIFY_A", server.URL + "/moved/" + secretPath, "",
			"answered 307"},
		"nobody listens": {"RALPH_NOTIFY_A", "http://127.0.0.1:1/" + secretPath, "", "did not answer"},
		"a service": {"RALPH_NOTIFY_B", "ntfy://" + host + "/topic-" + secretPath + "?scheme=http",
			"Stuck after 3 iterations", ""},
		"a service that refuses": {"RALPH_NOTIFY_B", "ntfy://" + host + "/other-" + secretPath + "?scheme=http", "",
			"ntfy did not take the message"},
		"an unknown service": {"RALPH_NOTIFY_B", "carrierpigeon://" + secretPath, "", "no service that is known"},
		"no address":         {"RALPH_NOTIFY_B", secretPath, "", "no address"},
		"an address with a line": {"RALPH_NOTIFY_B", "https://x/\n" + secretPath, "",
			"no address"},
	}
	for name, row := range rows {
		bodies = nil
		places := Places([]string{"HOME=/x", "RALPH_NOTIFY_=x", "RALPH_NOTIFY_EMPTY=", row.name + "=" + row.value})
		if len(places) != 1 {
			t.Fatalf("%s: %d places", name, len(places))
		}
		err := places[0].Send(t.Context(), aMessage(), nil)
		switch {
		case row.failed == "" && err != nil, row.failed != "" && (err == nil || !strings.Contains(err.Error(), row.failed)):
			t.Errorf("%s: the error is %v, want %q", name, err, row.failed)
		case err != nil && strings.Contains(err.Error(), secretPath):
			t.Errorf("%s: the error shows the address: %v", name, err)
		case err != nil && !strings.Contains(err.Error(), row.name):
			t.Errorf("%s: the error does not name the variable: %v", name, err)
		}
		if got := strings.Join(bodies, "\n"); row.told == "" && got != "" || !strings.Contains(got, row.told) {
			t.Errorf("%s: what arrived is %q, want %q", name, got, row.told)
		}
	}
}

// TestServices has a complete address of each service that docs/reports.md names, and what is none.
func TestServices(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{
		"slack://hook:AAAAAAAAA-BBBBBBBBB-CCCCCCCCCCCCCCCCCCCCCCCC@webhook", "discord://token@123456789",
		"telegram://123456789:" + strings.Repeat("A", 35) +
			"@telegram?chats=@channel", "smtp://user:word@mail.example.com:587/?from=a@example.com&to=b@example.com",
		"ntfy://ntfy.example.com/topic",
		"teams://11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/" +
			"33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05" +
			"?host=example.webhook.office.com",
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reach(u); err != nil {
			t.Errorf("%s: %v", u.Scheme, err)
		}
		if !strings.Contains(string(document), "`"+u.Scheme+"://…`") {
			t.Errorf("docs/reports.md does not name %s", u.Scheme)
		}
	}
	if n := strings.Count(string(document), "://…`"); n != len(addresses)+1 { // and https
		t.Errorf("docs/reports.md names %d kinds of addresses, and %d are tried here", n, len(addresses)+1)
	}
}

// TestTellByCommand: the message is on standard input and, in short, in the environment.
func TestTellByCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tell := func(command string) error {
		return Places([]string{"RALPH_NOTIFY_COMMAND=" + command})[0].Send(t.Context(), aMessage(),
			[]string{"PATH=" + os.Getenv("PATH")})
	}
	if err := tell(`cd '` + dir + `'; cat >message; echo "$RALPH_KIND $RALPH_BRANCH" >short`); err != nil {
		t.Fatal(err)
	}
	var got Message
	text, _ := os.ReadFile(filepath.Join(dir, "message"))
	if err := json.Unmarshal(text, &got); err != nil || got.Title != aMessage().Title {
		t.Errorf("the message is %s (%v)", text, err)
	}
	if short, _ := os.ReadFile(filepath.Join(dir, "short")); string(short) != "failed ralph/issue-7\n" {
		t.Errorf("the environment said %q", short)
	}
	if err := tell("exit 3"); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("a failing command came to %v", err)
	}
}
