package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// mostLog is how much of a job's log is read, in bytes: its end, where a failure is.
const mostLog = 4 << 20

// BuildLog reads what is worth reading of a failed build: of a job of GitHub Actions the lines around its errors and
// its last ones, without times and colors, at most 48 KiB; and the remarks that the check run made on lines of files,
// at most 100. Both may be empty, for a status always. All of it is what strangers wrote: hostile data. With an error,
// the findings that were read come too.
func (c *Client) BuildLog(ctx context.Context, b Build) (excerpt string, findings []Annotation, err error) {
	l := buildLog{c, b}
	if b.CheckRun != 0 {
		if findings, err = l.findings(ctx); err != nil {
			return "", nil, err
		}
	}
	if b.JobID == 0 {
		return "", findings, nil
	}
	excerpt, err = l.jobLog(ctx)
	return excerpt, findings, explain("reading the log of "+oneLine(b.Name), err)
}

// buildLog is the log of one failed build.
type buildLog struct {
	*Client
	build Build
}

// findings are the annotations of a check run, without the runner's own about the end of a process.
func (l buildLog) findings(ctx context.Context) ([]Annotation, error) {
	list, _, err := l.api.Checks.ListCheckRunAnnotations(ctx, l.o.Repo.Owner, l.o.Repo.Name, l.build.CheckRun,
		&github.ListOptions{PerPage: 100})
	if err != nil {
		return nil, explain("reading what "+oneLine(l.build.Name)+" says of lines", err)
	}
	var found []Annotation
	for _, a := range list {
		if a.GetPath() == ".github" { // the runner's own, as in: Process completed with exit code 1.
			continue
		}
		found = append(found, Annotation{
			Path: a.GetPath(), Line: a.GetStartLine(), EndLine: a.GetEndLine(), Level: a.GetAnnotationLevel(),
			Title: safetext.ShortenBytes(a.GetTitle(), mostTitle), Message: safetext.ShortenBytes(a.GetMessage(), mostSummary),
		})
	}
	return found, nil
}

// jobLog asks for the address of the log, which is outside GitHub's API, and reads it there without the token. A log
// that GitHub has deleted, or does not have yet, is empty.
func (l buildLog) jobLog(ctx context.Context) (string, error) {
	path := fmt.Sprintf("repos/%s/%s/actions/jobs/%d/logs", l.o.Repo.Owner, l.o.Repo.Name, l.build.JobID)
	req, err := l.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	resp, err := l.api.Client().Transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	at := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusFound || at == "" {
		err := github.CheckResponse(resp)
		if ErrGone(err) {
			return "", nil
		}
		if err == nil {
			err = fmt.Errorf("GitHub does not say where it lies (%d)", resp.StatusCode)
		}
		return "", err
	}
	text, err := l.download(ctx, at)
	return excerptOf(text), err
}

// download reads the end of the text at an address that GitHub has given. The address is a secret of its own for some
// minutes: no error holds it, and the log names only its path.
func (l buildLog) download(ctx context.Context, address string) (string, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" {
		return "", errors.New("GitHub gives an address that cannot be read")
	}
	resp, err := l.fetch(ctx, at, 0)
	if err != nil {
		return "", err
	}
	if resp.ContentLength > mostLog {
		_ = resp.Body.Close()
		if resp, err = l.fetch(ctx, at, resp.ContentLength-mostLog); err != nil {
			return "", err
		}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		return "", nil
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		return "", fmt.Errorf("the place where GitHub keeps logs answers %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostLog))
	if err != nil && len(raw) == 0 {
		return "", plainly(err)
	}
	return strings.ToValidUTF8(string(raw), "�"), nil
}

func (l buildLog) fetch(ctx context.Context, at *url.URL, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("GitHub gives an address that cannot be read")
	}
	req.Header.Set("Accept-Encoding", "identity") // the length is the text's
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	resp, err := l.wire.RoundTrip(req)
	if err != nil {
		return nil, plainly(err)
	}
	return resp, nil
}
