package sandbox

import (
	"strings"
	"testing"
)

// TestWithoutCredentials: what opens a remote is left out, everything else stays as it is.
func TestWithoutCredentials(t *testing.T) {
	const config = `[core]
	bare = false
[remote "origin"]
	url = https://alice:s3cret@github.com/alice/demo.git
	pushurl = "https://s3cret@github.com/alice/demo.git"
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "ssh"]
	url = ssh://git@github.com/alice/demo.git
[http "https://github.com/"] extraHeader = AUTHORIZATION: basic s3cret
[http "https://example.com/"]
	extraheader = one \
		s3cret
	sslVerify = true
[url "https://bob:s3cret@github.com/"]
	insteadOf = gh:
[credential "https://github.com"]
	helper = "!f() { echo password=s3cret; }; f"
[github]
	oauth-token = s3cret
[branch "main"]
	remote = origin
`
	const want = `[core]
	bare = false
[remote "origin"]
	url = https://github.com/alice/demo.git
	pushurl = "https://github.com/alice/demo.git"
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "ssh"]
	url = ssh://git@github.com/alice/demo.git
[http "https://github.com/"]
[http "https://example.com/"]

	sslVerify = true
[url "https://github.com/"]
	insteadOf = gh:
[credential "https://github.com"]

[github]

[branch "main"]
	remote = origin
`
	text, keys := withoutCredentials(config)
	if text != want {
		t.Errorf("left is\n%s", text)
	}
	if got := strings.Join(keys, " "); got != "remote.origin.url remote.origin.pushurl http.https://github.com/.extraheader "+
		"http.https://example.com/.extraheader url.https://github.com/ credential.https://github.com.helper github.oauth-token" {
		t.Errorf("named are %s", got)
	}
	if text, keys := withoutCredentials(want); text != want || keys != nil {
		t.Errorf("a second time: %q, %q", text, keys)
	}
}
