package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Workflow is a workflow of one private repository that an App starts, and whose jobs prove who they are by the tokens
// that GitHub Actions gives them. Its methods may be called by several goroutines.
type Workflow struct {
	repo event.Repo
	file string // "runner.yml"
	now  func() time.Time
	jobs *oidc.IDTokenVerifier

	mu    sync.Mutex
	known host
	read  time.Time
}

// host is the repository of a workflow as GitHub knows it.
type host struct {
	id, installation int64
	private          bool
	branch           string // the default one
}

// Workflow is a workflow on this server whose jobs name audience, an address, in their tokens. It calls no one.
func (s Server) Workflow(repo event.Repo, file, audience string, now func() time.Time) *Workflow {
	issuer := s.jobIssuer()
	asking := oidc.ClientContext(context.Background(), &http.Client{Transport: s.base(), Timeout: requestTimeout})
	return &Workflow{repo: repo, file: file, now: now, jobs: oidc.NewVerifier(issuer,
		oidc.NewRemoteKeySet(asking, issuer+"/.well-known/jwks"), &oidc.Config{ClientID: audience, Now: now})}
}

// jobIssuer is who signs the tokens of jobs.
func (s Server) jobIssuer() string {
	if s.enterprise() {
		return s.Web() + "/_services/token"
	}
	root := rootOf(s.APIURL)
	if root == rootOf("") {
		return "https://token.actions.githubusercontent.com"
	}
	return strings.Replace(root, "://api.", "://token.actions.", 1) // "https://api.acme.ghe.com"
}

// hostFor is how long it is known what the repository is, so that many starts cost few calls.
const hostFor = time.Minute

// host asks what the repository is.
func (w *Workflow) host(ctx context.Context, a *App) (host, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if age := w.now().Sub(w.read); !w.read.IsZero() && age >= 0 && age < hostFor {
		return w.known, nil
	}
	in, err := a.InstallationOf(ctx, w.repo)
	if err != nil {
		return host{}, err
	}
	r, _, err := a.as(in.ID).Repositories.Get(ctx, w.repo.Owner, w.repo.Name)
	if err != nil {
		return host{}, explain("reading the repository "+w.repo.String(), err)
	}
	w.known, w.read = host{r.GetID(), in.ID, r.GetPrivate(), r.GetDefaultBranch()}, w.now()
	return w.known, nil
}

// Start starts the workflow on its repository's default branch. A *DispatchError is for the operator of the server;
// after any other error the workflow may have been started.
func (w *Workflow) Start(ctx context.Context, a *App, inputs map[string]any) error {
	h, err := w.host(ctx, a)
	switch {
	case errors.Is(err, ErrNotInstalled):
		return &DispatchError{"The App is not installed on this server's runner repository."}
	case err != nil:
		return err
	case !h.private:
		return &DispatchError{"This server's runner repository is public. Make it private: its log is of other repositories."}
	}
	repo := w.repo
	repo.DefaultBranch = h.branch
	return a.Dispatch(ctx, h.installation, repo, w.file, inputs)
}

// Dispatch starts a workflow of a repository, "ralph.yml", as its default branch has it, with inputs that it declares. A
// *DispatchError is for the people who maintain the workflow; after any other error it may have been started.
func (a *App) Dispatch(ctx context.Context, installation int64, repo event.Repo, file string,
	inputs map[string]any) error {
	token, err := a.Token(ctx, installation, repo.Name, Permissions{"actions": "write"})
	if err != nil {
		return err
	}
	defer func() { _ = a.Revoke(context.WithoutCancel(ctx), token) }() // it ends by itself within the hour
	c, err := newClient(Options{Server: a.o.Server, Repo: repo, Token: token.Value})
	if err != nil {
		return err
	}
	if repo.DefaultBranch == "" {
		if repo, err = c.repository(ctx); err != nil {
			return err
		}
	}
	_, err = c.api.Actions.CreateWorkflowDispatchEventByFileName(ctx, repo.Owner, repo.Name, file,
		github.CreateWorkflowDispatchEventRequest{Ref: repo.DefaultBranch, Inputs: inputs})
	var said *github.ErrorResponse
	if !errors.As(err, &said) || said.Response == nil {
		return explain("starting the workflow "+file, err)
	}
	why := strings.TrimSuffix(oneLine(said.Message), ".")
	switch {
	case statusIs(err, http.StatusNotFound):
		why = fmt.Sprintf("The workflow %s does not exist: %s has no such file in .github/workflows. Add it, or change the "+
			"setting workflow.", file, repo.DefaultBranch)
	case statusIs(err, http.StatusUnprocessableEntity):
		why = fmt.Sprintf("The workflow %s cannot be started: GitHub says “%s”. It needs workflow_dispatch under on:, with "+
			"the input request.", file, why)
	case ErrForbidden(err):
		why = fmt.Sprintf("The workflow %s may not be started: GitHub says “%s”. Give the App the permission Actions: "+
			"write, and accept it for the installation.", file, why)
	default:
		return explain("starting the workflow "+file, err)
	}
	return &DispatchError{why}
}

// DispatchError is why GitHub does not start a workflow, in one sentence that says what to do.
type DispatchError struct{ Why string }

func (e *DispatchError) Error() string { return e.Why }

// jobClaims are what a token says of its job.
type jobClaims struct {
	Repository string `json:"repository_id"`
	Visibility string `json:"repository_visibility"`
	Workflow   string `json:"job_workflow_ref"` // "acme/runner/.github/workflows/runner.yml@refs/heads/main"
	Ref        string `json:"ref"`
	Event      string `json:"event_name"`
	Run        string `json:"run_id"`
	Attempt    string `json:"run_attempt"`
}

// Job verifies the token of a job, and names the job: "4711/1", its run and the attempt of it. The error explains why it is
// no job of the workflow as the default branch of a repository has it that is not public, or that no one can tell now.
func (w *Workflow) Job(ctx context.Context, a *App, token string) (string, error) {
	signed, err := w.jobs.Verify(ctx, token)
	if err != nil {
		return "", fmt.Errorf("verifying the job's token: %w", err)
	}
	var c jobClaims
	if err := signed.Claims(&c); err != nil {
		return "", fmt.Errorf("reading the job's token: %w", err)
	}
	h, err := w.host(ctx, a)
	if err != nil {
		return "", err
	}
	ref := "refs/heads/" + h.branch
	switch {
	case c.Repository != strconv.FormatInt(h.id, 10):
		return "", fmt.Errorf("the job is of another repository than %s", w.repo)
	case c.Visibility != "private" && c.Visibility != "internal" || !h.private:
		return "", fmt.Errorf("%s is public", w.repo)
	case !strings.EqualFold(c.Workflow, w.repo.String()+"/.github/workflows/"+w.file+"@"+ref) || c.Ref != ref:
		return "", fmt.Errorf("the job is not of the workflow %s on the branch %s", w.file, h.branch)
	case c.Event != "workflow_dispatch":
		return "", fmt.Errorf("the job was started by the event %s and not by this server", oneLine(c.Event))
	case c.Run == "":
		return "", errors.New("the job's token names no run")
	}
	return c.Run + "/" + c.Attempt, nil
}

// Examine says whether the workflow can be started, and what to do otherwise. self is the App as GitHub knows it.
func (w *Workflow) Examine(ctx context.Context, a *App, self Self) []Fact {
	e := factCollector{ctx: ctx}
	w.mu.Lock()
	w.read = time.Time{} // someone may just have changed it
	w.mu.Unlock()
	w.examine(&e, a, self)
	return e.report.Facts
}

func (w *Workflow) examine(e *factCollector, a *App, self Self) {
	const what = "the runner repository"
	name, path := oneLine(w.repo.String()), ".github/workflows/"+w.file
	in, err := a.InstallationOf(e.ctx, w.repo)
	if errors.Is(err, ErrNotInstalled) {
		e.add(what, Problem, "The App is not installed on "+name+".", "Install it there: "+a.InstallPage(self.Slug, "setup"))
		return
	}
	if err != nil {
		e.add(what, Problem, err.Error(), "")
		return
	}
	if g := Grants(self, in, Permissions{"actions": "write", "contents": "read"}); g.Problem != "" {
		e.add(what, Problem, g.Problem, g.Advice)
		return
	}
	h, err := w.host(e.ctx, a)
	var content []byte
	if err == nil {
		content, _, err = a.In(in.ID, w.repo).File(e.ctx, "", path)
	}
	switch page := a.o.Web() + "/" + name; {
	case err != nil:
		e.add(what, Problem, err.Error(), "")
	case !h.private:
		e.add(what, Problem, name+" is public, so ralph starts no jobs there.", "Make it private at "+page+"/settings.")
	case content == nil:
		e.add(what, Problem, fmt.Sprintf("The branch %s of %s has no file %s.", oneLine(h.branch), name, path),
			"Copy examples/app/runner/runner.yml of ralph to it.")
	case !strings.Contains(string(content), "workflow_dispatch") || !strings.Contains(string(content), "request"):
		e.add(what, Problem, path+" of "+name+" cannot be started by ralph.",
			"Add the trigger workflow_dispatch with the input request, as examples/app/runner/runner.yml of ralph has them.")
	default:
		e.add(what, OK, fmt.Sprintf("%s is private and has %s on the branch %s.", name, path, oneLine(h.branch)), "")
	}
}
