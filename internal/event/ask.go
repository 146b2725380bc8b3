package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ParseAsk reads the client_payload of a repository_dispatch: {"issue": 42}, {"prompt": "…"} or {"plan":
// "ralph/tasks.json"}, and besides it hint, fresh and max_iterations. Numbers and truth values may be written as
// strings, as shells like to. An error is a *UsageError: what was not understood must not begin something that costs
// money.
func ParseAsk(payload []byte) (DispatchRequest, error) {
	var given struct {
		Issue              json.Number // also a string with a number
		Prompt, Plan, Hint string
		Fresh              any
		MaxIterations      json.Number `json:"max_iterations"`
	}
	if len(payload) > 0 {
		from := json.NewDecoder(bytes.NewReader(payload))
		from.DisallowUnknownFields()
		if err := from.Decode(&given); err != nil {
			return DispatchRequest{}, &UsageError{"client_payload (" + quote(err.Error()) + ")",
				"a JSON object with issue, prompt, plan, hint, fresh, max_iterations"}
		}
	}
	ask := DispatchRequest{Prompt: given.Prompt, Plan: given.Plan, Hint: given.Hint, Fresh: fmt.Sprint(given.Fresh) == "true"}
	asks := 0
	for _, is := range []bool{given.Issue != "", ask.Prompt != "", ask.Plan != ""} {
		if is {
			asks++
		}
	}
	switch {
	case !whole(given.Issue, 1<<31-1, &ask.Issue):
		return DispatchRequest{}, &UsageError{"client_payload.issue", "the number of an issue"}
	case !whole(given.MaxIterations, 100, &ask.MaxIterations):
		return DispatchRequest{}, &UsageError{"client_payload.max_iterations", "a whole number from 1 to 100"}
	case given.Fresh != nil && !ask.Fresh && fmt.Sprint(given.Fresh) != "false":
		return DispatchRequest{}, &UsageError{"client_payload.fresh", "true or false"}
	case ask.Plan == "." || ask.Plan != "" && !fs.ValidPath(ask.Plan) || strings.ContainsAny(ask.Plan, "\\\x00\n"):
		return DispatchRequest{}, &UsageError{"client_payload.plan", "the path of a file in the repository"}
	case asks != 1:
		return DispatchRequest{}, &UsageError{"client_payload with " + strconv.Itoa(asks) + " of issue, prompt and plan",
			"exactly one of them"}
	}
	return ask, nil
}

// whole reads a number from 1 to most, if one is given.
func whole(given json.Number, most int, into *int) bool {
	n, err := strconv.Atoi(given.String())
	*into = n
	return given == "" || err == nil && n >= 1 && n <= most
}
