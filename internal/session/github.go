package session

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/task"
)

// GitHub is a repository on GitHub: where its pages and its API are, and the token that it is asked with.
type GitHub struct {
	Repo               event.Repo
	Page, API, GraphQL string // without a slash at their end
	Token              string // empty: none that may be sent there
	Trusted            bool   // any token may go there: it is GitHub's own, or someone has named it
}

// remote is what the address of a clone's remote says.
type remote struct {
	host string // "github.com", "ghe.example:8443"; empty in an address that names none
	repo event.Repo
}

// FindGitHub finds the repository: the one that is named (OWNER/NAME, HOST/OWNER/NAME or an address),
// GITHUB_REPOSITORY's, or that of the clone. Where it is follows from GITHUB_API_URL, else from the host. A token in
// GITHUB_TOKEN or GH_TOKEN is sent to github.com, to *.ghe.com and to a host that someone has named; a clone's remote
// alone sends it nowhere else.
func FindGitHub(ctx context.Context, env config.Environment, parent []string, dir, named string) (GitHub, error) {
	var origin remote
	if address, err := git.RemoteURL(ctx, Top(dir), parent); err == nil {
		origin, _ = parseRemote(address)
	}
	at, chosen, err := whichHub(env, origin, named)
	if err != nil {
		return GitHub{}, err
	}
	p := GitHub{Repo: at.repo}
	said := func(name string) string { return strings.TrimSuffix(proc.Value(parent, name), "/") }
	if api := said("GITHUB_API_URL"); api != "" {
		p.API, p.GraphQL, p.Page, chosen = api, said("GITHUB_GRAPHQL_URL"), said("GITHUB_SERVER_URL"), true
	} else {
		p.API = apiOf(at.host)
	}
	p.GraphQL = cmp.Or(p.GraphQL, GraphQL(p.API))
	p.Page = cmp.Or(p.Page, "https://"+at.host)
	p.Trusted = chosen || hosted(at.host)
	p.Token = tokenFor(at.host, p.Trusted, said)
	return p, nil
}

// whichHub says which repository is meant, and whether someone has chosen its host.
func whichHub(env config.Environment, origin remote, named string) (at remote, chosen bool, err error) {
	switch {
	case named != "":
		var ok bool
		if at, ok = parseNamed(named); !ok {
			return at, false, invalid.Errorf(
				"invalid --repo %q: must be OWNER/NAME or HOST/OWNER/NAME, such as alice/demo", named,
			)
		}
		chosen = at.host != ""
	case env.Repository != "":
		at.repo.Owner, at.repo.Name, _ = strings.Cut(env.Repository, "/")
	case origin.repo.Owner != "":
		at = origin
	default:
		return at, false, invalid.Errorf("no repository on GitHub is named, and there is no clone here with a remote that " +
			"names one; change into such a clone, or set GITHUB_REPOSITORY=owner/name")
	}
	if at.host == "" && at.repo.Owner != "" && strings.EqualFold(at.repo.String(), origin.repo.String()) {
		at.host = origin.host
	}
	at.host = cmp.Or(at.host, "github.com")
	return at, chosen, nil
}

// apiOf is the address of the API of a host.
func apiOf(host string) string {
	if hosted(host) {
		return "https://api." + host
	}
	return "https://" + host + "/api/v3"
}

// GraphQL is the address of GitHub's GraphQL for that of its API.
func GraphQL(api string) string {
	return strings.TrimSuffix(strings.TrimSuffix(api, "/"), "/v3") + "/graphql"
}

// hosted reports whether a host is one of GitHub's own.
func hosted(host string) bool {
	return strings.EqualFold(host, "github.com") || strings.HasSuffix(strings.ToLower(host), ".ghe.com")
}

// tokenFor is the token for a host, by the names that GitHub's own command line gives them.
func tokenFor(host string, trusted bool, said func(string) string) string {
	var token string
	if trusted {
		token = cmp.Or(said("GITHUB_TOKEN"), said("GH_TOKEN"))
	}
	if !hosted(host) {
		token = cmp.Or(token, said("GH_ENTERPRISE_TOKEN"), said("GITHUB_ENTERPRISE_TOKEN"))
	}
	return token
}

// parseNamed reads what someone types for a repository.
func parseNamed(named string) (remote, bool) {
	if strings.Contains(named, "://") || strings.Contains(named, "@") {
		return parseRemote(named)
	}
	parts := strings.Split(strings.TrimSuffix(named, ".git"), "/")
	host := ""
	if len(parts) == 3 {
		host, parts = parts[0], parts[1:]
		if !strings.ContainsAny(host, ".:") {
			return remote{}, false
		}
	}
	return repoAt(host, parts)
}

// parseRemote reads the address of a remote: https://host/owner/name.git, ssh://git@host/owner/name,
// git@host:owner/name.git.
func parseRemote(address string) (remote, bool) {
	host, path := "", ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, path = u.Host, u.Path
		if u.Scheme != "https" && u.Scheme != "http" { // its port is not the API's
			host = u.Hostname()
		}
	} else if before, after, ok := strings.Cut(address, ":"); ok && !strings.Contains(before, "/") {
		host, path = before[strings.LastIndex(before, "@")+1:], after
	}
	if host == "ssh.github.com" { // git over the port of HTTPS
		host = "github.com"
	}
	if host == "" {
		return remote{}, false
	}
	return repoAt(host, strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/"))
}

func repoAt(host string, parts []string) (remote, bool) {
	if len(parts) != 2 || !plainName(parts[0]) || !plainName(parts[1]) {
		return remote{}, false
	}
	return remote{host, event.Repo{Owner: parts[0], Name: parts[1]}}, true
}

// plainName reports whether an owner or a repository can have this name.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._", r)
	})
}

// Open makes a client for the place. dry leaves every write undone.
func (p GitHub) Open(ctx context.Context, dry bool, log func(string, ...any)) (*github.Client, error) {
	if p.Token == "" {
		return nil, p.Tokenless()
	}
	hub, err := github.New(ctx, github.Options{Server: github.Server{APIURL: p.API, Log: log}, GraphQLURL: p.GraphQL, Repo: p.Repo, Token: p.Token,
		AllowWorkflows: true, DryRun: dry})
	return hub, invalid.Mark(err)
}

// Tokenless says which variable lacks.
func (p GitHub) Tokenless() error {
	host := strings.TrimPrefix(strings.TrimPrefix(p.Page, "https://"), "http://")
	if p.Trusted {
		return invalid.Errorf(
			"there is no token for %s: set GITHUB_TOKEN or GH_TOKEN; where gh is logged in, gh auth token prints one",
			host,
		)
	}
	return invalid.Errorf(
		"there is no token for %s: set GH_ENTERPRISE_TOKEN; GITHUB_TOKEN goes there only when you name the server, with "+
			"--repo %s/%s or GITHUB_API_URL",
		host, host, p.Repo,
	)
}

// At is the address of one of the repository's pages: "settings/actions".
func (p GitHub) At(page string) string { return p.Page + "/" + p.Repo.String() + "/" + page }

// FromGitHub is the task of an issue, by its number. It is the issue's text as it is now; comments of others are left
// out.
func (s *Session) FromGitHub(ctx context.Context, number int) (task.Task, error) {
	place, err := FindGitHub(ctx, s.Env, s.Parent, s.Dir, "")
	if err != nil {
		return task.Task{}, err
	}
	hub, err := place.Open(ctx, true, s.Log)
	if err != nil {
		return task.Task{}, invalid.Errorf("reading issue #%d: %w", number, err)
	}
	issue, err := hub.Issue(ctx, number)
	if err != nil {
		return task.Task{}, invalid.Mark(err)
	}
	t, err := task.From(event.Request{Event: event.Event{Kind: event.Dispatched, Repo: place.Repo, Issue: issue, At: s.Clock()}},
		event.Facts{})
	return t, invalid.Mark(err)
}
