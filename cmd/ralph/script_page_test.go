package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/enter\?token=\S+`)

// opens opens the page whose address a file holds, as a browser does, and loads it until it has all of some texts:
// opens FILE TEXT... Afterwards the address opens nothing any more, and the page is nobody else's.
func opens(ts *testscript.TestScript, _ bool, args []string) {
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	browser := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	address := ""
	for range 1000 {
		if address = pageAddress.FindString(ts.ReadFile(args[0])); address != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	status, page := load(ts, browser, address)
	root, _, _ := strings.Cut(address, "/enter")
	late := time.Now().Add(30 * time.Second)
	for !holds(page, args[1:]) && time.Now().Before(late) {
		time.Sleep(50 * time.Millisecond)
		status, page = load(ts, browser, root+"/")
	}
	if status != http.StatusOK || !holds(page, args[1:]) {
		ts.Fatalf("%s: %d, without one of %q:\n%s", address, status, args[1:], page)
	}
	for _, closed := range []string{address, root + "/", root + "/runs/run", root + "/runs/run/output.txt"} {
		if status, _ := load(ts, http.DefaultClient, closed); status != http.StatusNotFound {
			ts.Fatalf("%s answers anybody: %d", closed, status)
		}
	}
}

func holds(page string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(page, text) {
			return false
		}
	}
	return true
}

func load(ts *testscript.TestScript, browser *http.Client, address string) (status int, page string) {
	got, err := browser.Get(address)
	ts.Check(err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	ts.Check(err)
	return got.StatusCode, string(text)
}
