package fake

import (
	"fmt"
	"net/url"
	"time"
)

func (g *GitHub) checkRunShape(r *repo, c *checkRun) object {
	api := fmt.Sprintf("%s/check-runs/%d", g.repoAPI(r), c.ID)
	page := fmt.Sprintf("%s/%s/runs/%d", g.url, r, c.ID)
	details := page
	if c.DetailsURL != "" {
		details = c.DetailsURL
	}
	if j := r.findJob(c.ID); j != nil {
		page = g.jobPage(r, j)
		details = page
	}
	return object{
		"id": c.ID, "name": c.Name, "node_id": node("CR", c.ID), "head_sha": c.HeadSHA, "external_id": c.ExternalID,
		"url":      api,
		"html_url": page, "details_url": details, "status": c.Status, "conclusion": text(c.Conclusion),
		"started_at":   moment(c.StartedAt),
		"completed_at": moment(c.CompletedAt), "check_suite": object{"id": c.suite.id}, "app": g.appShape(c.app),
		"pull_requests": g.pullsAt(r, c.HeadSHA),
		"output": object{
			"title": text(c.Title), "summary": text(c.Summary), "text": text(c.Text), "annotations_count": len(c.Annotations),
			"annotations_url": api + "/annotations",
		},
	}
}

// moment is a time as GitHub answers it: null when it was not yet.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

func (g *GitHub) annotationShape(r *repo, c *checkRun, a Annotation) object {
	column := func(n int) any {
		if n == 0 {
			return nil
		}
		return n
	}
	return object{
		"path": a.Path, "blob_href": fmt.Sprintf("%s/%s/blob/%s/%s", g.url, r, c.HeadSHA, url.PathEscape(a.Path)),
		"start_line": a.StartLine,
		"end_line":   a.EndLine, "start_column": column(a.StartColumn), "end_column": column(a.EndColumn),
		"annotation_level": a.Level,
		"title":            text(a.Title), "message": a.Message, "raw_details": text(a.RawDetails),
	}
}

func (g *GitHub) appShape(app *App) object {
	at := stamp(time.Unix(0, 0))
	return object{
		"id": app.ID, "slug": app.Slug, "node_id": node("A", app.ID), "owner": g.userShape(app.Owner), "name": app.Slug,
		"description":  "",
		"external_url": g.url, "html_url": g.url + "/apps/" + app.Slug, "created_at": at, "updated_at": at,
		"permissions": object{}, "events": []string{},
	}
}

// pullsAt are the open pull requests of the repository itself whose head is a commit. Those of forks do not exist, as
// at GitHub.
func (g *GitHub) pullsAt(r *repo, sha string) []object {
	found := []object{}
	for _, is := range r.issues {
		if is.pull == nil || is.Closed || is.pull.headRepo != "" || g.headSHA(r, is) != sha {
			continue
		}
		end := func(ref, sha string) object {
			return object{"ref": ref, "sha": sha, "repo": object{"id": r.id, "url": g.repoAPI(r), "name": r.name}}
		}
		found = append(found, object{
			"id": is.pull.id, "number": is.Number, "url": fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number),
			"head": end(is.pull.head, sha), "base": end(is.pull.base, g.branchSHA(r, is.pull.base)),
		})
	}
	return found
}
