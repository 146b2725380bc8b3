package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Manifest is the App that GitHub is asked to make, with exactly what ralph uses.
type Manifest struct {
	BaseURL      string // where ralph serve is reached from GitHub and browsers: "https://ralph.example"
	Name         string // unique on GitHub, at most 34 characters
	Organization string // whose it is; empty: the person's who makes it
	State        string // comes back with the code; see NewSecret
	Dispatch     bool   // the setting dispatch: workflow, which takes actions: write
}

// Form is what a browser sends to GitHub: a POST to Action with the field "manifest".
type Form struct {
	Action   string // of the form: an address on GitHub's pages, with the state
	Manifest string // JSON
}

// The addresses below BaseURL that the App gets.
const (
	HookPath     = "/webhook"          // where deliveries go
	CreatedPath  = "/setup/created"    // where the browser comes back to with a code
	InstallPath  = "/setup"            // where it comes back to after an installation
	SignedInPath = "/sign-in/callback" // where it comes back to with someone who signs in
)

// plainLogin are the names that people and organizations can have; in enterprises they have underscores.
var plainLogin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$`) })

// On is the form that makes the App on a server of GitHub's.
func (m Manifest) On(s Server) (Form, error) {
	switch {
	case strings.TrimSpace(m.Name) == "" || len(m.Name) > 34:
		return Form{}, errors.New("making the App's manifest: its name must have 1 to 34 characters")
	case m.Organization != "" && !plainLogin().MatchString(m.Organization):
		return Form{}, errors.New("making the App's manifest: there is no organization of this name")
	}
	permissions := Needed(false, m.Dispatch)
	if m.Organization != "" {
		permissions["members"] = "read" // who its owners are, who are operators
	}
	root := strings.TrimSuffix(m.BaseURL, "/")
	text, err := json.Marshal(map[string]any{
		"name": m.Name, "url": root, "public": false,
		"description":     "Turns labeled issues into reviewed pull requests.",
		"hook_attributes": map[string]any{"url": root + HookPath, "active": true},
		"redirect_url":    root + CreatedPath, "callback_urls": []string{root + SignedInPath},
		"setup_url": root + InstallPath, "setup_on_update": true, "request_oauth_on_install": false,
		"default_permissions": permissions, "default_events": NeededEvents(),
	})
	if err != nil {
		return Form{}, fmt.Errorf("making the App's manifest: %w", err)
	}
	place := "/settings/apps/new"
	if m.Organization != "" {
		place = "/organizations/" + m.Organization + place
	}
	return Form{Action: s.Web() + place + "?state=" + url.QueryEscape(m.State), Manifest: string(text)}, nil
}

// Credentials are what GitHub gives once for a new App. All but the first line and Page are secrets, or are kept with
// them.
type Credentials struct {
	ID                          int64
	Slug, Name, Owner           string
	Key                         Key
	ClientID                    string
	ClientSecret, WebhookSecret string `json:"-"`
	Page                        string
}

// String hides the secrets.
func (c Credentials) String() string { return fmt.Sprintf("[the App %d, %s]", c.ID, c.Slug) }

// GoString hides the secrets.
func (c Credentials) GoString() string { return c.String() }

// codePattern is what a code of GitHub's looks like; it becomes a part of an address.
var codePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{8,200}$`) })

// CompleteManifest gives GitHub the code that it sent a browser back with, and gets the App's credentials for it. It
// works once and within an hour.
func CompleteManifest(ctx context.Context, s Server, code string) (Credentials, error) {
	const doing = "completing the App's registration"
	if !codePattern().MatchString(code) {
		return Credentials{}, errors.New(doing + ": this is no code of GitHub's; begin again")
	}
	api, err := dialAt(s.APIURL, s.base())
	if err != nil {
		return Credentials{}, err
	}
	made, _, err := api.Apps.CompleteAppManifest(ctx, code)
	switch {
	case statusIs(err, http.StatusNotFound), refused(err):
		return Credentials{}, &failed{doing + ": GitHub does not know the code: it was used before, or is older than an " +
			"hour; begin again", err}
	case err != nil:
		return Credentials{}, explain(doing, err)
	}
	key, err := ReadKey(made.GetPEM())
	if err != nil {
		return Credentials{}, fmt.Errorf("%s: %w", doing, err)
	}
	c := Credentials{ID: made.GetID(), Slug: made.GetSlug(), Name: made.GetName(), Owner: made.GetOwner().GetLogin(),
		Key: key, ClientID: made.GetClientID(), ClientSecret: made.GetClientSecret(),
		WebhookSecret: made.GetWebhookSecret(), Page: made.GetHTMLURL()}
	if c.ID == 0 || c.ClientID == "" || c.ClientSecret == "" || c.WebhookSecret == "" {
		return Credentials{}, missingFieldError(doing, "all of the App's credentials")
	}
	return c, nil
}
