// Package notify tells people who look at neither GitHub nor a terminal how a run ended: by a webhook, by the address
// of a service such as slack://, or by a command. Addresses hold secrets, so they come from the environment alone.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/email/smtp"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/ralph-loop/ralph/internal/proc"
)

// Prefix begins the name of every variable that holds a place to tell.
const Prefix = "RALPH_NOTIFY_"

// Command is the variable whose value is a shell command, not an address.
const Command = Prefix + "COMMAND"

// mostTime is what telling one place may take: a run has ended, and someone waits for the process.
const mostTime = 15 * time.Second

// Message is the outcome of a run, as a webhook gets it in JSON.
type Message struct {
	Kind        string   `json:"kind"` // "done", "failed" or "waiting"
	Title       string   `json:"title"`
	Text        string   `json:"text"` // why, and what to do next; some lines
	Outcome     string   `json:"outcome"`
	Repository  string   `json:"repository,omitempty"` // "owner/name"; empty: not known
	Task        string   `json:"task,omitempty"`
	Run         string   `json:"run,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	PullRequest string   `json:"pull_request,omitempty"` // its page
	Page        string   `json:"page,omitempty"`         // of the job or the run
	Iterations  int      `json:"iterations"`
	CostUSD     *float64 `json:"cost_usd,omitempty"` // nil: not known
}

// plain is the message for people: a title, why, and where to look.
func (m Message) plain() string {
	lines := []string{m.Title, m.Text, m.PullRequest, m.Page}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// Place is somewhere to tell.
type Place struct {
	Name    string // of the variable that it is from
	address string // a URL, or a shell command
}

// Places are those of an environment (NAME=value each), by name.
func Places(environ []string) []Place {
	addresses := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value = strings.TrimSpace(value); strings.HasPrefix(name, Prefix) && name != Prefix && value != "" {
			addresses[name] = value // the last one of a name counts
		}
	}
	var places []Place
	for _, name := range slices.Sorted(maps.Keys(addresses)) {
		places = append(places, Place{name, addresses[name]})
	}
	return places
}

// Named are the places of these names, all of them for none, and the names that no place has.
func Named(places []Place, names []string) (named []Place, missing []string) {
	if len(names) == 0 {
		return places, nil
	}
	for _, name := range names {
		if i := slices.IndexFunc(places, func(p Place) bool { return p.Name == name }); i >= 0 {
			named = append(named, places[i])
		} else {
			missing = append(missing, name)
		}
	}
	return named, missing
}

// Send tells the place within 15 seconds. env is what a command, which runs where we are, finds in its environment
// besides the message. An error names the variable and never shows its value.
func (p Place) Send(ctx context.Context, m Message, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	body, err := json.Marshal(m)
	switch {
	case err != nil: // texts and numbers
	case p.Name == Command:
		err = p.command(ctx, m, body, env)
	default:
		err = p.send(ctx, m, body)
	}
	if err != nil {
		return fmt.Errorf("no notification by %s: %w", p.Name, err)
	}
	return nil
}

func (p Place) send(ctx context.Context, m Message, body []byte) error {
	u, err := url.Parse(p.address)
	if err != nil || u.Scheme == "" { // whose error would show the address
		return errors.New("its value is no address; must be https://HOST/PATH for a webhook, or addresses such as " +
			"slack://…, discord://…, telegram://… and smtp://…")
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return post(ctx, p.address, body)
	}
	told := make(chan error, 1)
	go func() { told <- speak(u, m) }() // it knows no context
	select {
	case err := <-told:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s did not answer within %s", u.Scheme, mostTime)
	}
}

// speak tells a chat, a mail server or the like.
func speak(u *url.URL, m Message) error {
	service, err := reach(u)
	if err != nil { // which shows parts of the address
		return fmt.Errorf("%s:// is no service that is known, or its address is not complete; docs/reports.md has the "+
			"services, and https://shoutrrr.nickfedor.com their addresses", u.Scheme)
	}
	if service.Send(m.plain(), &types.Params{}) != nil {
		return fmt.Errorf("the service %s did not take the message; look whether its address is still valid", u.Scheme)
	}
	return nil
}

// post sends the message to a webhook.
func post(ctx context.Context, address string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("its value is no address of a webhook")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "ralph")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err // without the address
		}
		return fmt.Errorf("the webhook did not answer: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the webhook answered %d, not 2xx", answer.StatusCode)
	}
	return nil
}

// command runs the shell command, with the message as JSON on its standard input and in short in its environment.
func (p Place) command(ctx context.Context, m Message, body []byte, env []string) error {
	result, err := proc.Run(ctx, proc.Spec{
		Argv: []string{"sh", "-c", p.address}, Stdin: bytes.NewReader(body), Timeout: mostTime,
		Env: append(slices.Clip(env), "RALPH_KIND="+m.Kind, "RALPH_TITLE="+m.Title, "RALPH_TEXT="+m.Text,
			"RALPH_BRANCH="+m.Branch, "RALPH_PULL_REQUEST="+m.PullRequest),
	})
	switch {
	case err != nil:
		return errors.New("the command could not be started")
	case result.Class != proc.Exited || result.Exit != 0:
		return fmt.Errorf("the command %s, with exit code %d", result.Class, result.Exit)
	}
	return nil
}

// services make those of each scheme, not set up yet. All services of the library would make the binary half a megabyte
// larger: these are the ones that docs/reports.md names.
var services = map[string]func() types.Service{
	"discord":  func() types.Service { return &discord.Service{} },
	"ntfy":     func() types.Service { return &ntfy.Service{} },
	"slack":    func() types.Service { return &slack.Service{} },
	"smtp":     func() types.Service { return &smtp.Service{} },
	"teams":    func() types.Service { return &teams.Service{} },
	"telegram": func() types.Service { return &telegram.Service{} },
}

// reach is the service of an address such as slack://…, ready to send. Its errors may show parts of the address.
func reach(u *url.URL) (types.Service, error) {
	made := services[u.Scheme]
	if made == nil {
		return nil, errors.New("no service has this name")
	}
	service := made()
	return service, service.Initialize(u, nil)
}
