package secret

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Credential is a part of a text that looks like someone's credential.
type Credential struct {
	Span
	Rule string // "aws-key"
	What string // "an access key of AWS"
}

// mostMatch is how long a credential may be.
const mostMatch = 16 << 10

// at is where the credential is that begins with a mark at a place of a text; to is 0 if the text there is not a
// credential.
func (f *form) at(text string, mark int) (from, to int) {
	from = mark
	for text[mark] == ':' && from > 0 && text[from-1] >= '0' && text[from-1] <= '9' { // the number before it
		from--
	}
	if strings.HasPrefix(f.looks.String(), `^(?:\b`) && from > 0 && isWord(text[from-1]) {
		return 0, 0
	}
	m := f.looks.Regexp().FindStringIndex(text[from:min(len(text), from+mostMatch)])
	if m == nil {
		return 0, 0
	}
	return from, from + m[1]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// Credentials are the parts of a text that look like a credential, without samples: what says of itself that it is an
// example, is a row of letters or digits, or has fewer bits than a real one. They are in order, and none overlaps.
func Credentials(text string) (found []Credential) {
	for _, r := range rules {
		before := len(found)
		for _, m := range r.find(text) {
			from, to := m[0], m[1]
			if len(m) >= 4 && m[2] >= 0 {
				from, to = m[2], m[3]
			}
			if !overlaps(found[:before], from, to) && !r.sample(text[from:to]) {
				found = append(found, Credential{Span{from, to, r.What}, r.Name, r.What})
			}
		}
		if len(found) > before {
			slices.SortFunc(found, func(a, b Credential) int { return a.From - b.From })
		}
	}
	return found
}

// overlaps reports whether a part of a text shares something with one of those found, which are in order.
func overlaps(found []Credential, from, to int) bool {
	i, _ := slices.BinarySearchFunc(found, from, func(c Credential, from int) int {
		if c.To <= from {
			return -1
		}
		return 1
	})
	return i < len(found) && found[i].From < to
}

func (r *rule) find(text string) [][]int {
	if len(r.Marks) == 0 || slices.ContainsFunc(r.Marks, func(mark string) bool { return strings.Contains(text, mark) }) {
		return r.Pattern.FindAllStringSubmatchIndex(text, -1)
	}
	return nil
}

// leastKey is how many characters the lines of a private key have together.
const leastKey = 100

// sample reports whether a match is no credential but something that stands for one.
func (r *rule) sample(value string) bool {
	if strings.HasPrefix(value, "-----BEGIN ") {
		value = keyBody(value)
		return len(value) < leastKey || kinds(value) < 20 || saysSample(strings.ToLower(value), leastWord)
	}
	if r.Name == "json-web-token" {
		_, rest, _ := strings.Cut(value, ".")
		payload, _, _ := strings.Cut(rest, ".")
		if claims, err := base64.RawURLEncoding.DecodeString(payload); err == nil &&
			(likeSample(string(claims)) || strings.Contains(string(claims), "John Doe")) {
			return true
		}
	}
	if r.Entropy > 0 && entropy(value) < r.Entropy || likeSample(value) {
		return true
	}
	return r.Name == "secret-value" && (!random(value) || strings.Count(value, "/") > 2 || isWords(value))
}

// keyBody is what is between the first line of a key and its last, without spaces and what programs put there.
func keyBody(value string) string {
	lines := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("\n\r\\\"'+, \t", r) })
	lines = slices.DeleteFunc(lines, func(line string) bool { return len(line) < 16 || strings.ContainsAny(line, "-:.") })
	return strings.Join(lines, "")
}

// likeSample reports whether a text says that it is an example, or was typed along the keyboard.
func likeSample(value string) bool {
	small := strings.ToLower(value)
	return saysSample(small, 0) || runs(small) >= longestRun
}

// leastWord is how long a word must be to be no accident in what is as long as a key.
const leastWord = 7

func saysSample(small string, least int) bool {
	return slices.ContainsFunc(placeholders, func(word string) bool {
		return len(word) >= least && strings.Contains(small, word)
	})
}

// longestRun is how many characters in a row, each the next or the same as the one before, no credential has: "012345".
const longestRun = 6

// runs is the length of the longest row of characters that go up by one, or stay.
func runs(s string) (longest int) {
	up, same := 1, 1
	for i := 1; i < len(s); i++ {
		up, same = next(up, s[i] == s[i-1]+1), next(same, s[i] == s[i-1])
		longest = max(longest, up, same)
	}
	return longest
}

func next(n int, on bool) int {
	if on {
		return n + 1
	}
	return 1
}

// isWords reports whether a value is words with signs between them, as names and messages are: "user_profile_token_2".
func isWords(value string) bool {
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("_-/=+~", r) })
	return len(words) > 2 && !slices.ContainsFunc(words, func(w string) bool {
		return len(w) > 12 || strings.ContainsAny(w, "0123456789") && strings.Trim(w, "0123456789") != "" && len(w) > 4
	})
}

// entropy is how many bits a character of a text has, by how often each is in it.
func entropy(text string) (bits float64) {
	var count [256]int
	for i := range len(text) {
		count[text[i]]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

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

// placeholders are parts of texts in place of a credential, in lower case.
var placeholders = []string{"example", "sample", "placeholder", "dummy", "fake", "changeme", "change-me", "change_me",
	"your-", "your_", "yourkey", "yoursecret", "yourtoken", "redacted", "notreal", "not-real", "not_real", "notasecret",
	"not-a-", "not_a_", "invalid", "deadbeef", "insert", "replace", "test-", "test_", "-test", "_test", "mock", "stub",
	"foobar", "xxxx", "....", "****", "lorem", "qwerty", "password", "letmein", "hunter2"}
