package engine

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
)

// TestSecretsOfAnEnvironment: what has a secret's name is one, unless texts have its value by chance.
func TestSecretsOfAnEnvironment(t *testing.T) {
	for entry, want := range map[string]string{
		"OPENAI_API_KEY=short-but-a-key":                       "short-but-a-key",
		"NPM_TOKEN=npm_9fK2mQ7xT4vB1zR8wL3c":                   "npm_9fK2mQ7xT4vB1zR8wL3c",
		"DEPLOY_PASSWORD=plainword-correct-horse-9931":         "plainword-correct-horse-9931",
		"DATABASE_URL=postgres://ralph:s3Cr3t0fTh1s@db:5432/a": "s3Cr3t0fTh1s",
		"TEST_PASSWORD=password":                               "",
		"TEST_SECRET=correct horse battery 42":                 "",
		"SSH_AUTH_SOCK=/tmp/ssh-9fK2mQ7xT4vB/agent.77":         "",
		"AUTH_URL=https://login.example.com/v2/9fK2mQ7xT4":     "",
		"REDIS_URL=redis://redis:redis@localhost:6379":         "",
		"GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568":     "", // a fingerprint, in images of Python
		"GIT_COMMIT=9fceb02d0ae598e95dc970b74767f19372d61af8":  "",
	} {
		got := Secrets(config.Environment{}, []string{"PATH=/bin", entry})
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}
