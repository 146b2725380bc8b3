package webpages

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"

	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

var errSilent = errors.New("GitHub does not answer")

// silent waits for GitHub, which does not answer.
func (w *World) silent(ctx context.Context) bool {
	w.mu.Lock()
	silent := w.Unanswered
	w.mu.Unlock()
	if silent {
		<-ctx.Done()
	}
	return silent
}

// Permission implements web.Access.
func (w *World) Permission(ctx context.Context, who web.Identity, repository string) (web.Permission, error) {
	if w.silent(ctx) {
		return web.MayWrite, errSilent // a caller that takes the value for an answer is found out
	}
	defer w.lock()()
	return w.may[who.Login][repository], nil
}

// Readable implements web.Access.
func (w *World) Readable(ctx context.Context, who web.Identity) ([]string, error) {
	silent := w.silent(ctx)
	defer w.lock()()
	names := slices.Collect(maps.Keys(w.may[who.Login]))
	if silent {
		return names, errSilent
	}
	return slices.DeleteFunc(names, func(name string) bool { return w.may[who.Login][name] < web.MayRead }), nil
}

// Operator implements web.Access.
func (w *World) Operator(ctx context.Context, who web.Identity) (bool, error) {
	if w.silent(ctx) {
		return true, errSilent
	}
	defer w.lock()()
	return w.ops[who.Login], nil
}

// Start implements web.Sessions.
func (w *World) Start(_ context.Context, token string, who web.Identity) error {
	defer w.lock()()
	w.sessions[token] = who
	return nil
}

// Find implements web.Sessions.
func (w *World) Find(_ context.Context, token string) (web.Identity, error) {
	defer w.lock()()
	who, ok := w.sessions[token]
	if !ok {
		return who, store.ErrNotFound
	}
	return who, nil
}

// End implements web.Sessions.
func (w *World) End(_ context.Context, token string, everywhere bool) error {
	defer w.lock()()
	who := w.sessions[token]
	maps.DeleteFunc(w.sessions, func(of string, other web.Identity) bool { return of == token || everywhere && other.Login == who.Login })
	return nil
}

// AuthorizeURL implements web.SignIn: GitHub's page, of which only the answer is here.
func (w *World) AuthorizeURL(state, verifier, redirect string) string {
	return redirect + "?" + url.Values{"state": {state}, "code": {"code-" + verifier}}.Encode()
}

// Exchange implements web.SignIn.
func (w *World) Exchange(_ context.Context, code, verifier, _ string) (web.Identity, error) {
	defer w.lock()()
	if w.SignsIn == "" || code != "code-"+verifier {
		return web.Identity{}, errSilent
	}
	return web.Identity{Login: w.SignsIn}, nil
}

// Do implements web.Actions.
func (w *World) Do(_ context.Context, a web.Action) error {
	defer w.lock()()
	if a.Kind == web.Stop && a.Text == "refuse" {
		return &web.Refusal{Why: "The run has ended already."}
	}
	w.done = append(w.done, a)
	return nil
}

// Redeem implements web.Setup.
func (w *World) Redeem(_ context.Context, code string) bool {
	defer w.lock()()
	right := w.Code != "" && code == w.Code
	if right {
		w.Code = ""
	}
	return right
}

// Standing implements web.Setup.
func (w *World) Standing(context.Context) (web.SetupStanding, error) {
	defer w.lock()()
	return w.App, nil
}

// Manifest implements web.Setup.
func (w *World) Manifest(organization, state string) (web.ManifestForm, error) {
	address := "https://github.com/settings/apps/new?state=" + state
	if organization != "" {
		address = "https://github.com/organizations/" + organization + "/settings/apps/new?state=" + state
	}
	return web.ManifestForm{Address: address, Manifest: `{"name":"ralph"}`}, nil
}

// RotateSecret implements web.Setup.
func (w *World) RotateSecret(_ context.Context, by string) error {
	defer w.lock()()
	w.done = append(w.done, web.Action{Kind: "rotate", By: web.Identity{Login: by}})
	return nil
}

// Complete implements web.Setup.
func (w *World) Complete(_ context.Context, code string, _ string) error {
	defer w.lock()()
	if code == "" {
		return &web.Refusal{Why: "GitHub gave no code."}
	}
	w.App.App = "ralph of acme"
	return nil
}
