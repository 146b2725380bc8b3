package secret

import (
	"strings"
	"testing"
)

// of is a credential that is drawn: it has the form of a real one, and is nobody's. It stands in no file as it is,
// since whoever looks through this repository would find it.
func of(form string, n int) string { return form + drawn(uint64(n), n) }

func digits(form string, n int) string {
	return form + strings.Map(func(r rune) rune { return rune("0a1b2c3d4e5f6789"[r%16]) }, drawn(uint64(n), n))
}

func capitals(form string, n int) string { return form + strings.ToUpper(drawn(uint64(n+1), n)) }

// TestCredentials has a row for each rule.
func TestCredentials(t *testing.T) {
	key := "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + wrapped(drawn(5, 1600), 70) + "-----END OPENSSH " +
		"PRIVATE KEY-----"
	for _, row := range []struct{ rule, text string }{
		{"private-key", key},
		{"private-key", `key := "` + strings.ReplaceAll(key, "\n", `\n`) + `"`},
		{"github-token", "token: " + of("ghp"+"_", 36)},
		{"github-token", of("github"+"_pat_", 82)},
		{"anthropic-key", "ANTHROPIC_API_KEY=" + of("sk-ant"+"-api03-", 95)},
		{"openai-key", of("sk"+"-proj-", 60)},
		{"google-key", of("AI"+"za", 35)},
		{"google-secret", of("GOC"+"SPX-", 28)},
		{"google-token", of("ya29"+".", 60)},
		{"aws-key", "aws_access_key_id = " + capitals("AK"+"IA", 16)},
		{"json-web-token", "eyJhbGciOiJSUzI1NiJ9." + of("ey"+"J", 80) + "." + drawn(6, 60)},
		{"gitlab-token", of("gl"+"pat-", 20)},
		{"slack-token", "xox" + "b-" + "2847561930-" + drawn(7, 24)},
		{"slack-webhook", "https://hooks.slack" + ".com/services/" + "T0" + capitals("", 8) + "/B0" + capitals("", 9) +
			"/" + drawn(9, 24)},
		{"stripe-key", of("sk"+"_live_", 24)},
		{"stripe-secret", of("wh"+"sec_", 32)},
		{"npm-token", "//registry.npmjs.org/:_authToken=" + of("np"+"m_", 36)},
		{"pypi-token", of("pyp"+"i-AgEIcHlwaS5vcmc", 100)},
		{"sendgrid-key", "SG" + "." + drawn(10, 22) + "." + drawn(11, 43)},
		{"huggingface-token", of("h"+"f_", 34)},
		{"digitalocean-token", digits("dop"+"_v1_", 64)},
		{"docker-token", of("dck"+"r_pat_", 27)},
		{"shopify-token", digits("shp"+"at_", 32)},
		{"vault-token", of("hv"+"s.", 90)},
		{"telegram-token", "7481920365:" + "AA" + drawn(12, 33)},
		{"age-key", capitals("AGE-SECRET"+"-KEY-1", 58)},
		{"azure-key", "DefaultEndpointsProtocol=https;Account" + "Key=" + drawn(13, 86) + "==;"},
		{"password-in-address", "postgres://app:" + drawn(14, 20) + "@db.internal:5432/app"},
		{"secret-value", `const apiKey = "` + drawn(15, 32) + `"`},
		{"secret-value", `"client_secret": "` + drawn(16, 40) + `",`},
		{"secret-value", "DB_PASSWORD=" + drawn(17, 24)},
		{"secret-value", "  auth_token: " + drawn(18, 40)},
	} {
		found := Credentials("a line before\n" + row.text + "\nand one behind\n")
		if len(found) != 1 || found[0].Rule != row.rule {
			t.Errorf("%s: found are %+v in %q", row.rule, found, row.text)
		}
	}
	for _, r := range rules {
		if r.Name == "" || r.What == "" || strings.Trim(r.Name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("a rule without a name of one word, or without words: %+v", r)
		}
	}
}

// TestSamples: what stands for a credential is none, and nothing else looks like one.
func TestSamples(t *testing.T) {
	for _, text := range []string{
		"AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"ANTHROPIC_API_KEY=sk-ant-your-key-goes-here", "sk-ant-api03-abcdefghijklmnop", "sk-ant-...",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ." +
			"SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n...\n",
		"postgres://user:password@localhost/db", "https://x-access-token:${TOKEN}@github.com/a/b",
		`token := os.Getenv("GITHUB_TOKEN_OF_THE_WORKFLOW")`, `password = "correct-horse-battery-staple"`,
		`secretName: "projects/my-project/secrets/my-secret"`, `tokenURL = "https://oauth2.googleapis.com/token"`,
		`"integrity": "sha512-` + drawn(3, 86) + `=="`, "h1:" + drawn(4, 43) + "=",
		"TOKEN=$(cat /run/secrets/token_of_the_day)",
		`const tokenKind = "installationTokenOfTheAppInUse"`, `secret: "${{ secrets.ANTHROPIC_API_KEY }}"`,
		`const csrf_token_header = "X-CSRF-Token-For-Requests-2024"`,
		"commit 3f786850e387550fdab836ed7e6dc881de23001b",
		`apiKey: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1"`, "sk_test_" + drawn(5, 24),
		"uuid 123e4567-e89b-12d3-a456-426614174000",
		"task-force, disk-space-is-nearly-used-up, sk-learn", "BEGIN PUBLIC KEY",
	} {
		if found := Credentials(text); len(found) > 0 {
			t.Errorf("%s is found in %q", found[0].Rule, text)
		}
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add("token: " + of("ghp"+"_", 36))
	f.Add("-----BEGIN RSA PRIVATE KEY-----\n" + drawn(5, 300))
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Credentials(text) {
			if c.From < 0 || c.To <= c.From || c.To > len(text) {
				t.Fatalf("%q: %+v", text, c)
			}
		}
		(&Redactor{}).All(text)
	})
}
