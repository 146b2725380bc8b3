package secret

import "github.com/ralph-loop/ralph/internal/regex"

// rule is how a kind of credential looks.
type rule struct {
	Name  string   // a word: names of findings are made of it
	What  string   // "an access key of AWS"
	Marks []string // every match has one of them in it: they are searched for first, since nearly no text has any
	// Pattern matches the credential, or has it in its first group.
	Pattern *regex.Pattern
	Entropy float64 // bits a character that it must have at least; 0: it is known by its form alone
	Shown   bool    // it is taken out of what is shown, too: the form is no one else's
}

// rules are the kinds that are known. They are our own words for forms that the vendors document. What has a form of
// its own comes first; the last two go by the name that a value is given.
var rules = []rule{
	{"private-key", "a private key", []string{"-----BEGIN "}, regex.Lazy(
		`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`), 0, true},
	{"github-token", "a token of GitHub", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		regex.Lazy(`gh[pousr]_[A-Za-z0-9_.-]{16,}`), 3, true}, // ghs_ is of variable length and may hold dots
	{"github-token", "a fine-grained token of GitHub", []string{"github_pat_"},
		regex.Lazy(`github_pat_[A-Za-z0-9_]{16,}`), 3, true},
	{"gateway-bearer", "a bearer of ralph's own gateway", []string{"ralph-turn-"},
		regex.Lazy(`ralph-turn-[0-9a-f]{16,}`), 2.5, true},
	{"anthropic-key", "a key of Anthropic", []string{"sk-ant-"}, regex.Lazy(`sk-ant-[A-Za-z0-9_-]{8,}`), 3, true},
	{"openai-key", "a key of OpenAI, or of a vendor with keys like its own", []string{"sk-"}, regex.Lazy(
		`\bsk-[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{15,}|\bsk-[A-Za-z0-9_-]{15,}[0-9][A-Za-z0-9_-]*`), 3.5, true},
	{"google-key", "an API key of Google", []string{"AIza"}, regex.Lazy(`AIza[0-9A-Za-z_-]{30,}`), 3, true},
	{"google-secret", "a client secret of Google", []string{"GOCSPX-"}, regex.Lazy(`GOCSPX-[A-Za-z0-9_-]{24,}`), 3, true},
	{"google-token", "an access token of Google", []string{"ya29."}, regex.Lazy(`\bya29\.[A-Za-z0-9_-]{20,}`), 3, true},
	{"aws-key", "an access key of AWS", []string{"AKIA", "ASIA"}, regex.Lazy(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), 2.5, true},
	{"json-web-token", "a JSON web token", []string{"eyJ"},
		regex.Lazy(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), 3.5, true},
	{"gitlab-token", "a token of GitLab", []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-",
		"gloas-"}, regex.Lazy(`\bgl(?:pat|dt|rt|ptt|cbt|soat|ft|oas)-[A-Za-z0-9_=.-]{20,}`), 3, true},
	{"slack-token", "a token of Slack", []string{"xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"},
		regex.Lazy(`\b(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{20,}`), 2.8, true},
	{"slack-webhook", "a webhook of Slack", []string{"hooks.slack.com/"}, regex.Lazy(
		`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{30,}`), 3, true},
	{"stripe-key", "a live key of Stripe", []string{"sk_live_", "rk_live_"}, regex.Lazy(`\b[sr]k_live_[A-Za-z0-9]{16,}`), 3, true},
	{"stripe-secret", "a webhook secret of Stripe", []string{"whsec_"}, regex.Lazy(`\bwhsec_[A-Za-z0-9+/]{24,}`), 3, true},
	{"npm-token", "a token of npm", []string{"npm_"}, regex.Lazy(`\bnpm_[A-Za-z0-9]{36}\b`), 3, true},
	{"pypi-token", "a token of PyPI", []string{"pypi-AgE"}, regex.Lazy(`\bpypi-AgE[A-Za-z0-9_-]{50,}`), 3, true},
	{"sendgrid-key", "a key of SendGrid", []string{"SG."},
		regex.Lazy(`\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}`), 3, true},
	{"huggingface-token", "a token of Hugging Face", []string{"hf_"}, regex.Lazy(`\bhf_[A-Za-z0-9]{34}\b`), 3, true},
	{"digitalocean-token", "a token of DigitalOcean", []string{"doo_v1_", "dop_v1_", "dor_v1_"},
		regex.Lazy(`\bdo[opr]_v1_[a-f0-9]{64}\b`), 2.5, true},
	{"docker-token", "a token of Docker Hub", []string{"dckr_"}, regex.Lazy(`\bdckr_[po]at_[A-Za-z0-9_-]{27,}`), 3, true},
	{"shopify-token", "a token of Shopify", []string{"shpat_", "shpca_", "shppa_", "shpss_"},
		regex.Lazy(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`), 2.5, true},
	{"vault-token", "a token of Vault", []string{"hvs."}, regex.Lazy(`\bhvs\.[A-Za-z0-9_-]{24,}`), 3, true},
	{"telegram-token", "a bot token of Telegram", []string{":AA"},
		regex.Lazy(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b`), 3, true},
	{"age-key", "a key of age", []string{"AGE-SECRET-KEY-1"}, regex.Lazy(`AGE-SECRET-KEY-1[0-9A-Z]{58}`), 3, true},
	{"azure-key", "a storage key of Azure", []string{"AccountKey="},
		regex.Lazy(`AccountKey=([A-Za-z0-9+/]{86}==)`), 4, true},
	{"password-in-address", "a password in an address", []string{"://"}, regex.Lazy(
		`\b[a-z][a-z0-9+.-]*://[^/\s:@"'<>]+:([^/\s:@"'{}$<>()]{12,})@[A-Za-z0-9]`), 3.3, false},
	{"secret-value", "a value that is named as a secret", nil, regex.Lazy(
		`(?i)(?:api_?key|apikey|secret|token|passw(?:or)?d|passphrase|access_?key|private_?key|auth_?key)[\w-]{0,30}["']?` +
			`[ \t]*(?::=|=>|[=:])[ \t]*["']([A-Za-z0-9+/=_~-]{20,})["']`), 3.9, false},
	{"secret-value", "a value that is named as a secret", nil, regex.Lazy(
		`(?im)^[ \t]*(?:export[ \t]+|-[ \t]+)?[\w.-]*(?:api_?key|apikey|secret|token|passw(?:or)?d|passphrase|access_?key` +
			`|private_?key|auth_?key)[\w-]{0,30}[ \t]*[=:][ \t]*([A-Za-z0-9+/=_~-]{20,})[ \t]*$`), 3.9, false},
}

// placeholders are parts of what stands for a credential and is none, in small letters.
var placeholders = []string{"example", "sample", "placeholder", "dummy", "fake", "changeme", "change-me", "change_me",
	"your-", "your_", "yourkey", "yoursecret", "yourtoken", "redacted", "notreal", "not-real", "not_real", "notasecret",
	"not-a-", "not_a_", "invalid", "deadbeef", "insert", "replace", "test-", "test_", "-test", "_test", "mock", "stub",
	"foobar", "xxxx", "....", "****", "lorem", "qwerty", "password", "letmein", "hunter2"}
