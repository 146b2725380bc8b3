package web

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/ralph-loop/ralph/internal/store"
)

// runPage shows a run as it is; live continues from there. Outsiders see its row and no records.
func (a *asked) runPage() error {
	st := a.newStory(a.run)
	if a.may < MayRead {
		st.run = a.run.outside()
	} else if err := st.upTo(a.r.Context(), 0); err != nil {
		return err
	}
	v, err := st.view(a, iterationBytes)
	if err != nil {
		return err
	}
	return a.show("run", brief(80, a.run.Title), v)
}

// output is all that agent and checks have printed, as plain text.
func (a *asked) output() error {
	return a.plain(false, func(r store.Record) string {
		if r.Kind != OutputRecord {
			return ""
		}
		return console(string(r.Body))
	})
}

// prompt is what the agent of one iteration was told.
func (a *asked) prompt() error {
	n, err := strconv.Atoi(a.r.PathValue("iteration"))
	if err != nil {
		return errHidden
	}
	return a.plain(true, func(r store.Record) string {
		var b ShownBody
		if r.Kind != ShownRecord || json.Unmarshal(r.Body, &b) != nil || b.Iteration != n {
			return ""
		}
		return console(b.Prompt)
	})
}

// plain answers with what text makes of the run's records, one after another. Where that is nothing and must not be,
// there is no such page.
func (a *asked) plain(must bool, text func(store.Record) string) error {
	sent := false
	send := func(piece string) error {
		if !sent {
			a.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			a.w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		}
		sent = true
		_, err := io.WriteString(a.w, piece)
		return err
	}
	for r, err := range a.records(a.r.Context(), a.run.ID, 0) {
		if err != nil && sent {
			a.Log.Error("reading a run for plain text", "run", a.run.ID, "error", err)
			panic(http.ErrAbortHandler) // a text that stops in the middle must not look whole
		}
		if err != nil {
			return err
		}
		if piece := text(r); piece != "" && send(piece) != nil {
			return nil // whoever hangs up does not want it
		}
	}
	if must && !sent {
		return errHidden
	}
	_ = send("")
	return nil
}
