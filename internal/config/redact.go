package config

import (
	"strings"

	"github.com/tailscale/hujson"
)

const redacted = "[redacted]"

// secretName is how names end whose values no one should read: --api-key, GH_TOKEN, X-Auth-Token.
const secretName = `[\w.-]*(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|(?:\b|_)(?:auth|pat|pwd))`

// secretText is a quoted text, or what is there without a space.
const secretText = `(?:"[^"]*"|'[^']*'|[^\s"'&;-][^\s"'&;]*)`

// secretValues are the ways in which a command line carries a secret. The first group of each stays.
var secretValues = []*pattern{
	lazy(`(?i)(` + secretName + `=)(?:` + secretText +
		`|-[^\s"'&;]+)`), // --token=x, GH_TOKEN=x, ?token=x
	lazy(`(?i)((?:^|[\s"'(;&|])--?` + secretName + `[ \t]+)` +
		secretText), // --api-key x
	lazy(`(?i)((?:authorization|` + secretName + `)["']?\s*:\s*(?:(?:bearer|basic|token)\s+)?)` + secretText), // a header
	lazy(
		`(://[^/\s:@]*:)[^/\s@]+@`), // https://user:x@host
}

// Redact takes out of a text what is named as a secret: the value of --api-key or of GH_TOKEN=, of an authorization
// header, the password in an address. A secret that only looks like one (sk-…, ghp_…) is not known here.
func Redact(text string) string {
	for i, pattern := range secretValues {
		with := "${1}" + redacted
		if i == len(secretValues)-1 {
			with += "@"
		}
		text = pattern.ReplaceAllString(text, with)
	}
	return text
}

var secretFlag = lazy(`(?i)^--?` + secretName + `$`)

// RedactArgs is Redact for arguments: it also knows a flag whose value is the next argument.
func RedactArgs(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = Redact(arg)
		if i > 0 && secretFlag.MatchString(args[i-1]) && !strings.HasPrefix(arg, "-") {
			out[i] = redacted
		}
	}
	return out
}

// redactTree redacts every text: a list of texts as arguments.
func redactTree(v *hujson.Value, redact func(string) string) {
	set := func(v *hujson.Value, text string) {
		if redact != nil {
			text = redact(text)
		}
		v.Value = hujson.String(text)
	}
	switch at := v.Value.(type) {
	case hujson.Literal:
		if at.Kind() == '"' {
			set(v, Redact(at.String()))
		}
	case *hujson.Object:
		for i := range at.Members {
			redactTree(&at.Members[i].Value, redact)
		}
	case *hujson.Array:
		args, texts := arguments(at)
		for i := range at.Elements {
			if texts {
				set(&at.Elements[i], args[i])
				continue
			}
			redactTree(&at.Elements[i], redact)
		}
	}
}

// arguments are the elements of a list of texts, redacted.
func arguments(a *hujson.Array) ([]string, bool) {
	var args []string
	for _, element := range a.Elements {
		literal, ok := element.Value.(hujson.Literal)
		if !ok {
			return nil, false
		}
		args = append(args, literal.String())
	}
	return RedactArgs(args), true
}
