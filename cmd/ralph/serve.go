package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/serve"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/store"
	jobs "github.com/ralph-loop/ralph/internal/work"
)

// servers is the grammar of ralph serve.
type (
	servers struct {
		Serve serveCommand `cmd:"" group:"github" help:"Serve a GitHub App: do what the action does, for every repository that it is installed on; take webhooks, work, show pages."`
	}
	serveCommand struct {
		Start     serveStart     `cmd:"" default:"withargs" help:"Serve until SIGTERM, then drain. The default command."`
		Backup    serveBackup    `cmd:"" help:"Write the whole database into a file; credentials stay encrypted."`
		Restore   serveRestore   `cmd:"" help:"Make a new database of a backup."`
		RotateKey serveRotateKey `cmd:"" help:"Seal everything secret in the database with the newest key, and say when older ones can go. No server may run."`
		Ready     serveReady     `cmd:"" help:"Check that a server on this machine is ready. The exit code is 0 if it is."`
	}
	dataFlags struct {
		Data string `placeholder:"DIR" help:"Where the database, mirrors and checkouts are. Default: $XDG_STATE_HOME/ralph/serve, or ~/.local/state/ralph/serve."`
	}
)

type serveStart struct {
	dataFlags
	Listen          string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to listen. Default: ${default}."`
	URL             string `name:"url" placeholder:"URL" help:"What GitHub and people reach this server by, such as https://ralph.example.com. Default: where it listens."`
	Slots           int    `placeholder:"N" help:"Number of runs at the same time on this machine. Default: the number of processors."`
	PerInstallation int    `placeholder:"N" help:"How many of all runs may be of one installation. Default: any number."`
	AppName         string `default:"ralph" placeholder:"NAME" help:"Name that the setup proposes for the App. Default: ${default}."`
	visitorFlags
	triggerFlags
	Mirrors int            `default:"20" placeholder:"GB" help:"How much disk copies of repositories may take. Default: ${default}."`
	Keep    map[string]int `default:"deliveries=30;records=30;runs=365;audit=365" placeholder:"KIND=DAYS;..." help:"For how many days what is over is kept: deliveries, records of runs, rows of runs, the audit log. Default: ${default}."`
	Drain   time.Duration  `default:"4m" placeholder:"TIME" help:"Time that runs have after SIGTERM, before they are handed on. Default: ${default}."`
	Allow   string         `placeholder:"FILE" help:"Limit what the repositories of each account can have: agents, models, launchers, budgets. Default: anything. Or RALPH_ALLOW."`
	Runner  string         `placeholder:"OWNER/NAME" help:"Private repository whose workflow runner.yml does the runs, on GitHub's runners or yours. Default: this machine does them."`
	LogText bool           `help:"Write the log as text instead of JSON."`
}

// visitorFlags are who sees and does what on the pages.
type visitorFlags struct {
	Operators []string `placeholder:"LOGINS" help:"Set more operators (default: the owner of the App, or the owners of its organization)."`
	Outsiders string   `default:"runs" enum:"nothing,runs,all" placeholder:"WHAT" help:"Show of public repositories to people who don't work on them (one of: nothing, runs, all; default: ${default})."`
}

// triggerFlags are what starts runs.
type triggerFlags struct {
	TriggerLabel  string `default:"ralph" placeholder:"LABEL" help:"Label on an issue that starts a run. Default: ${default}."`
	TriggerPhrase string `default:"/ralph" placeholder:"WORD" help:"First word of a comment that is a command. Default: ${default}."`
}

// Run implements ralph serve.
func (c *serveStart) Run(ctx context.Context, hard drainContext, p process, stderr io.Writer) error {
	o, err := c.options(p)
	if err != nil {
		return invalid.Mark(err)
	}
	o.Log = slog.New(slog.NewJSONHandler(stderr, nil))
	if c.LogText {
		o.Log = slog.New(slog.NewTextHandler(stderr, nil))
	}
	if err := proc.HideSelf(); err != nil {
		o.Log.Warn("agents that work as our own user can read our memory", "error", err)
	}
	err = serve.Run(ctx, hard, o, func(at serve.Addresses) {
		if at.Setup != "" {
			_, _ = fmt.Fprintf(p.out, "ralph serves %s. There is no GitHub App yet; make it here:\n\n  %s\n\n", at.Pages,
				at.Setup)
			return
		}
		_, _ = fmt.Fprintf(p.out, "ralph serves %s\n", at.Pages)
	})
	if err != nil && !invalid.Is(err) {
		return &endedError{loop.Failed.ExitCode(), err} // also after a signal
	}
	return err
}

// options are what flags and the environment say.
func (c *serveStart) options(p process) (o serve.Options, err error) {
	if err := c.check(); err != nil {
		return o, err
	}
	environ := environment(p.environ)
	data, keys, err := c.place(environ, p)
	if err != nil {
		return o, err
	}
	program, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("finding our own program: %w", err)
	}
	o = serve.Options{Clock: now, Notify: notifier(environ["NOTIFY_SOCKET"]),
		Place: serve.Place{Listen: c.Listen, Data: data, Keys: keys, Version: programVersion(),
			MetricsToken: environ["RALPH_METRICS_TOKEN"]},
		Identity: serve.Identity{AppName: c.AppName, Operators: c.Operators, Outsiders: c.Outsiders,
			GitHub: github.Server{APIURL: cmp.Or(environ["GITHUB_API_URL"], "https://api.github.com"),
				WebURL: environ["GITHUB_SERVER_URL"]}},
		Work: serve.Work{Program: program, Environ: p.environ, Slots: cmp.Or(c.Slots, runtime.NumCPU()),
			PerInstallation: c.PerInstallation, Mirrors: int64(c.Mirrors) << 30, Drain: c.Drain, Keep: c.Keep,
			Rules: event.Rules{TriggerLabel: c.TriggerLabel, TriggerPhrase: c.TriggerPhrase,
				CIGate: true}, // each repository's settings say it when it matters
			Base: jobs.Order{Machine: jobs.Machine{AgentUser: environ["RALPH_AGENT_USER"]},
				Inputs: map[string]string{"trigger_label": c.TriggerLabel, "trigger_phrase": c.TriggerPhrase}}}}
	o.Base.GitHub = jobs.GitHub{Server: o.GitHub.Web(), API: strings.TrimSuffix(o.GitHub.APIURL, "/"),
		GraphQL: cmp.Or(environ["GITHUB_GRAPHQL_URL"], session.GraphQL(o.GitHub.APIURL))}
	if host, _, _ := net.SplitHostPort(c.Listen); c.URL == "" && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return o, invalid.Errorf("--listen %s is every address of this machine, so the URL is not known: add --url, such as https://ralph.example.com", c.Listen)
	}
	if c.URL != "" {
		if o.Public, err = publicURL(c.URL); err != nil {
			return o, err
		}
	}
	if o.Allow, err = c.allowances(p, environ); err != nil {
		return o, err
	}
	if o.Runner = c.Runner; o.Runner != "" {
		if owner, name, _ := strings.Cut(c.Runner, "/"); owner == "" || name == "" || strings.Contains(name, "/") {
			return o, invalid.Errorf("invalid --runner %q: must be a repository, such as acme/ralph-runner", c.Runner)
		}
		o.Drain = 0 // a runner continues, and finds the next server
	}
	o.App, err = givenApp(environ)
	return o, err
}

// allowances are what the file says that --allow or RALPH_ALLOW names; without one nil, which allows everything.
func (c *serveStart) allowances(p process, environ map[string]string) (config.Allowances, error) {
	name := cmp.Or(c.Allow, environ["RALPH_ALLOW"])
	if name == "" {
		return nil, nil //nolint:nilnil // said above
	}
	content, err := os.ReadFile(p.path(name))
	if err != nil {
		return nil, invalid.Errorf("reading what accounts are allowed: %w", err)
	}
	return config.ReadAllowances(name, content)
}

func publicURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path+u.RawQuery != "" || u.User != nil {
		return nil, invalid.Errorf("invalid --url %q: must be an address without a path, such as https://ralph.example.com", text)
	}
	return u, nil
}

// givenApp is the App that the environment names.
func givenApp(environ map[string]string) (*serve.App, error) {
	id, key := int64(0), environ["RALPH_APP_PRIVATE_KEY"]
	if text := environ["RALPH_APP_ID"]; text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			return nil, invalid.Errorf("invalid RALPH_APP_ID %q: must be the number on the App's page, under About", text)
		}
		id = n
	}
	if file := environ["RALPH_APP_PRIVATE_KEY_FILE"]; file != "" && key == "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, invalid.Errorf("RALPH_APP_PRIVATE_KEY_FILE: %w", err)
		}
		if err := keyKeptFromAgents(file, environ["HOME"], os.Geteuid() == 0); err != nil {
			return nil, err
		}
		key = string(text)
	}
	return serve.Given(id, key, environ["RALPH_WEBHOOK_SECRET"], environ["RALPH_CLIENT_ID"], environ["RALPH_CLIENT_SECRET"])
}

// where is the directory of the data.
func (f dataFlags) where(environ map[string]string, p process) string {
	if f.Data != "" {
		return p.path(f.Data)
	}
	state := cmp.Or(environ["XDG_STATE_HOME"], filepath.Join(environ["HOME"], ".local", "state"))
	return filepath.Join(state, "ralph", "serve")
}

// existing is the data directory if it has a database; nothing is made there.
func (f dataFlags) existing(environ map[string]string, p process) (string, error) {
	data := f.where(environ, p)
	if _, err := os.Stat(filepath.Join(data, store.File)); err != nil {
		return "", invalid.Errorf("there is no database: %w; name the directory that ralph serve --data has", err)
	}
	return data, nil
}

// place is the directory of the data, which is made, and the keys of the database.
func (f dataFlags) place(environ map[string]string, p process) (data string, keys store.Keys, err error) {
	data = f.where(environ, p)
	if !filepath.IsAbs(data) {
		return "", keys, invalid.Errorf("HOME is not set; set it or pass --data DIR")
	}
	if err := keptFromAgents("--data", data, os.Geteuid() == 0, environ["HOME"]); err != nil {
		return "", keys, err
	}
	// Agents pass through it to their checkouts, which have names that no one guesses; they list nothing in it.
	if err := os.MkdirAll(data, 0o711); err != nil {
		return "", keys, invalid.Errorf("making the directory of the data: %w", err)
	}
	keys, err = store.LoadKeys(environ["RALPH_DATA_KEY"], data)
	return data, keys, invalid.Mark(err)
}

// notifier tells systemd how this process stands; without a socket no one.
func notifier(socket string) func(string) {
	return func(state string) {
		if socket == "" {
			return
		}
		if conn, err := net.Dial("unixgram", socket); err == nil { //nolint:noctx // it is of this machine
			_, _ = io.WriteString(conn, state)
			_ = conn.Close()
		}
	}
}

type serveBackup struct {
	dataFlags
	File string `arg:"" help:"File to write; - is standard output."`
}

// Run implements ralph serve backup.
func (c *serveBackup) Run(ctx context.Context, p process) (err error) {
	s, err := c.open(ctx, p)
	if err != nil {
		return invalid.Mark(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c.File == "-" {
		return s.Backup(ctx, p.out)
	}
	file, err := os.OpenFile(p.path(c.File), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return invalid.Errorf("%s already exists: name another file", c.File)
	}
	if err != nil {
		return err
	}
	return errors.Join(s.Backup(ctx, file), file.Close())
}

// open opens the database beside a server that may use it.
func (f dataFlags) open(ctx context.Context, p process) (*store.Store, error) {
	environ := environment(p.environ)
	if _, err := f.existing(environ, p); err != nil {
		return nil, err
	}
	data, keys, err := f.place(environ, p)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Options{Dir: data, Keys: keys, Beside: true})
}

type serveRestore struct {
	dataFlags
	File string `arg:"" help:"File to read; - is standard input."`
}

// Run implements ralph serve restore.
func (c *serveRestore) Run(ctx context.Context, p process) error {
	environ := environment(p.environ)
	data, keys, err := c.place(environ, p)
	if err != nil {
		return invalid.Mark(err)
	}
	in := io.Reader(p.in)
	if c.File != "-" {
		file, err := os.Open(p.path(c.File))
		if err != nil {
			return invalid.Mark(err)
		}
		defer file.Close()
		in = file
	}
	return invalid.Mark(store.Restore(ctx, store.Options{Dir: data, Keys: keys}, in))
}

type serveRotateKey struct{ dataFlags }

// Run implements ralph serve rotate-key.
func (c *serveRotateKey) Run(ctx context.Context, p process) error {
	environ := environment(p.environ)
	data, err := c.existing(environ, p)
	if err != nil {
		return err
	}
	told, err := store.RotateKey(ctx, store.Options{Dir: data}, environ["RALPH_DATA_KEY"])
	if err != nil {
		return invalid.Mark(err)
	}
	_, err = fmt.Fprintln(p.out, told)
	return err
}

type serveReady struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where the server listens. Default: ${default}."`
}

// Run implements ralph serve ready.
func (c *serveReady) Run(ctx context.Context, p process) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Listen+"/readyz", nil)
	if err != nil {
		return invalid.Mark(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no server answers on %s: %w", c.Listen, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(p.out, io.LimitReader(resp.Body, 64<<10)); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return &endedError{loop.Failed.ExitCode(), nil}
	}
	return nil
}

// check refuses flags that no server could keep to.
func (c *serveStart) check() error {
	_, port, err := net.SplitHostPort(c.Listen)
	if _, number := strconv.ParseUint(port, 10, 16); err != nil || number != nil {
		return invalid.Errorf("invalid --listen %q: must be an address with a port, such as 127.0.0.1:8080", c.Listen)
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"--slots", c.Slots}, {"--per-installation", c.PerInstallation}, {"--mirrors", c.Mirrors}} {
		if n.value < 0 {
			return invalid.Errorf("invalid %s \"%d\": must be 0 or more", n.flag, n.value)
		}
	}
	for kind, days := range map[string]int{"deliveries": 30, "records": 30, "runs": 365, "audit": 365} {
		if _, said := c.Keep[kind]; !said {
			c.Keep[kind] = days
		}
	}
	for kind, days := range c.Keep {
		if days < 1 || len(c.Keep) > 4 {
			return invalid.Errorf("invalid --keep %s=%d: must be days from 1 on of deliveries, records, runs, audit", kind, days)
		}
	}
	switch {
	case c.Drain < 0 || c.Drain > 24*time.Hour:
		return invalid.Errorf("invalid --drain %q: must be a duration from 0s to 24h, such as 4m", c.Drain)
	case strings.TrimSpace(c.TriggerLabel) == "":
		return invalid.Errorf("invalid --trigger-label \"\": must be the name of a label, such as ralph")
	case len(strings.Fields(c.TriggerPhrase)) != 1:
		return invalid.Errorf("invalid --trigger-phrase %q: must be one word, such as /ralph", c.TriggerPhrase)
	}
	return nil
}

// keptFromAgents refuses a place for keys that agents could read. Those of root work as someone else; those of anyone
// else work as the same user, and sandboxes hide of what that user may read only some directories.
func keptFromAgents(what, path string, root bool, hidden ...string) error {
	for _, dir := range hidden {
		if below, err := filepath.Rel(dir, path); root || dir != "" && err == nil && filepath.IsLocal(below) {
			return nil
		}
	}
	return invalid.Errorf("%s is %s, which agents that work as this user could read: put it below %s, or set HOME for the server",
		what, path, cmp.Or(hidden[0], "HOME"))
}

// keyKeptFromAgents is keptFromAgents for a key of the App, whatever links lead to it: sandboxes hide the home, and places
// for what is mounted.
func keyKeptFromAgents(file, home string, root bool) error {
	at, err := filepath.EvalSymlinks(file)
	if err != nil {
		return invalid.Errorf("RALPH_APP_PRIVATE_KEY_FILE: %w", err)
	}
	return keptFromAgents("RALPH_APP_PRIVATE_KEY_FILE", at, root, safetext.Map([]string{home, "/run", "/mnt", "/media"},
		func(dir string) string {
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				return dir
			}
			return real
		})...)
}
