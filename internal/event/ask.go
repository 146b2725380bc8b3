package event

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// askKeys is what the client_payload of a repository_dispatch may hold, with what each takes.
var askKeys = []struct {
	key, takes string
	set        func(*DispatchRequest, json.RawMessage) bool
}{
	{"issue", "the number of an issue", func(a *DispatchRequest, v json.RawMessage) bool { return whole(v, 1<<31-1, &a.Issue) }},
	{"prompt", "a text that is not empty",
		func(a *DispatchRequest, v json.RawMessage) bool { return words(v, &a.Prompt) && a.Prompt != "" }},
	{"plan", "the path of a file in the repository",
		func(a *DispatchRequest, v json.RawMessage) bool { return words(v, &a.Plan) && inside(a.Plan) }},
	{"hint", "a text", func(a *DispatchRequest, v json.RawMessage) bool { return words(v, &a.Hint) }},
	{"fresh", "true or false", func(a *DispatchRequest, v json.RawMessage) bool { return yes(v, &a.Fresh) }},
	{"max_iterations", "a whole number from 1 to 100",
		func(a *DispatchRequest, v json.RawMessage) bool { return whole(v, 100, &a.MaxIterations) }},
}

// ParseAsk reads the client_payload of a repository_dispatch: {"issue": 42}, {"prompt": "…"} or {"plan":
// "ralph/tasks.json"}, and besides it hint, fresh and max_iterations. Numbers and truth values may be written as
// strings, as shells like to. An error is a *UsageError: what was not understood must not begin something that costs
// money.
func ParseAsk(payload []byte) (DispatchRequest, error) {
	var given map[string]json.RawMessage
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &given); err != nil {
			return DispatchRequest{}, &UsageError{"client_payload", "a JSON object with " + allowedKeys()}
		}
	}
	var ask DispatchRequest
	for _, k := range askKeys {
		value, there := given[k.key]
		if there && !k.set(&ask, value) {
			return DispatchRequest{}, &UsageError{"client_payload." + k.key, k.takes}
		}
		delete(given, k.key)
	}
	if len(given) > 0 {
		return DispatchRequest{}, &UsageError{"client_payload." + quote(slices.Min(slices.Collect(maps.Keys(given)))), allowedKeys()}
	}
	if n := count(ask.Issue != 0, ask.Prompt != "", ask.Plan != ""); n != 1 {
		return DispatchRequest{}, &UsageError{"client_payload with " + strconv.Itoa(n) + " of issue, prompt and plan",
			"exactly one of them"}
	}
	return ask, nil
}

func words(v json.RawMessage, into *string) bool {
	return !bytes.Equal(v, []byte("null")) && json.Unmarshal(v, into) == nil
}

// bare is a value without the quotes that a string of it has.
func bare(v json.RawMessage) string {
	var s string
	if words(v, &s) {
		return s
	}
	return string(v)
}

func whole(v json.RawMessage, most int, into *int) bool {
	n, err := strconv.Atoi(bare(v))
	*into = n
	return err == nil && n >= 1 && n <= most
}

func yes(v json.RawMessage, into *bool) bool {
	*into = bare(v) == "true"
	return *into || bare(v) == "false"
}

// inside reports whether a path is one of a file in the repository.
func inside(p string) bool {
	return p != "" && p == path.Clean(p) && p != "." && p != ".." && !strings.HasPrefix(p, "/") &&
		!strings.HasPrefix(p, "../") && !strings.ContainsAny(p, "\\\x00\n")
}

func count(given ...bool) (n int) {
	for _, g := range given {
		if g {
			n++
		}
	}
	return n
}

func allowedKeys() string {
	var keys []string
	for _, k := range askKeys {
		keys = append(keys, k.key)
	}
	return strings.Join(keys, ", ")
}
