package config

import "testing"

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"--api-key X --model opus":             "--api-key [redacted] --model opus",
		"--token=X":                            "--token=[redacted]",
		`--auth-token "a b" c`:                 "--auth-token [redacted] c",
		"-c openai.api_key='a b' x":            "-c openai.api_key=[redacted] x",
		"GH_TOKEN=abc make test":               "GH_TOKEN=[redacted] make test",
		"env DB_PASSWORD=abc; make":            "env DB_PASSWORD=[redacted]; make",
		"curl 'https://x/?a=1&token=abc&b=2'":  "curl 'https://x/?a=1&token=[redacted]&b=2'",
		`curl -H "Authorization: Bearer abc"`:  `curl -H "Authorization: Bearer [redacted]"`,
		"git clone https://me:pass@host/a":     "git clone https://me:[redacted]@host/a",
		"--max-tokens 100 --author me":         "--max-tokens 100 --author me",
		"--no-auth --model opus":               "--no-auth --model opus",
		"make token-test, keyboard, authors=3": "make token-test, keyboard, authors=3",
	} {
		got := Redact(in)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		if again := Redact(got); again != got {
			t.Errorf("%s: a second time: %s", in, again)
		}
	}
}
