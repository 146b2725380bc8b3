package github

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"
)

// root is REST's address without a slash at its end: "https://api.github.com", "https://ghe.example/api/v3",
// "https://api.sub.ghe.com".
func (o Options) root() string { return rootOf(o.APIURL) }

func rootOf(apiURL string) string {
	if apiURL == "" {
		return "https://api.github.com"
	}
	return strings.TrimSuffix(apiURL, "/")
}

func (c *Client) dial(h *http.Client) (*github.Client, error) { return dialAt(c.o.root(), h) }

// dialAt makes a client of the API that has its root there.
func dialAt(root string, h *http.Client) (*github.Client, error) {
	h.CheckRedirect = stay
	api := github.NewClient(h)
	address, err := url.Parse(root + "/")
	if err != nil {
		return nil, fmt.Errorf("reading GITHUB_API_URL: %w", err)
	}
	api.BaseURL = address
	return api, nil
}

// stay follows a redirect, as of a renamed repository, on the same host alone: the token goes nowhere else.
func stay(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}
