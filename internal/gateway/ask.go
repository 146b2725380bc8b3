package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/regex"
)

// request is what the body of a request says that bounds what it may cost, and the body as it may be passed on.
type request struct {
	text   []byte
	model  string // "" if it names none
	output int64  // the tokens that all its answers may have at most
	// uncounted is what prevents its cost from being read in its answer, as in Options.Through; "" if nothing does.
	uncounted string
}

// mostAnswers is how many answers a request may ask for.
const mostAnswers = 1 << 10

// defaultOutput is how many tokens an answer may have if its request does not bound it.
const defaultOutput = 128 << 10

// outputBounds are the members by which a request bounds an answer, and by which it asks for several.
var outputBounds = map[Protocol]struct{ most, answers []string }{
	Anthropic: {[]string{"max_tokens"}, nil},
	Responses: {[]string{"max_output_tokens"}, nil},
	Chat:      {[]string{"max_tokens", "max_completion_tokens"}, []string{"n"}},
	Gemini: {[]string{"generationConfig.maxOutputTokens", "generationConfig.max_output_tokens",
		"generation_config.maxOutputTokens", "generation_config.max_output_tokens"},
		[]string{"generationConfig.candidateCount", "generationConfig.candidate_count",
			"generation_config.candidateCount", "generation_config.candidate_count"}},
}

var (
	errNoJSON = errors.New("ralph: the body of this request is not valid JSON; send one JSON object")
	errFetch  = errors.New("ralph: this request names an address that the provider would fetch, which no sandbox can " +
		"see; send the content itself, or add \"url_sources\" to the setting gatewayThrough")
)

// readRequest reads a body. What must not pass is removed from it, unless it is in through; removed lists that.
func readRequest(c call, body []byte, through []string) (r request, removed []string, err error) {
	top := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) || !top.IsObject() {
		return r, nil, errNoJSON
	}
	all, err := members(top)
	if err != nil {
		return r, nil, err
	}
	for _, name := range []string{"generationConfig", "generation_config"} {
		if _, err := members(all[name]); err != nil {
			return r, nil, err
		}
	}
	r = request{text: body, model: c.model}
	if name := all["model"].Str; c.protocol != Gemini && len(name) <= mostModel { // Gemini's path names it
		r.model = name
	}
	bounds, answers := outputBounds[c.protocol], int64(1)
	for _, path := range bounds.most {
		r.output = max(r.output, top.Get(path).Int())
	}
	for _, path := range bounds.answers {
		answers = max(answers, min(top.Get(path).Int(), mostAnswers))
	}
	if r.output <= 0 {
		r.output = defaultOutput
	}
	r.output = min(r.output, mostTokens/answers) * answers
	switch {
	case all["background"].Bool() && !slices.Contains(through, "background"):
		r.uncounted = "background"
	case (all["service_tier"].Str == "priority" || all["speed"].Str == "fast") && !slices.Contains(through, "priority"):
		r.uncounted = "priority"
	}
	if !slices.Contains(through, "url_sources") && fetches(top) {
		return r, nil, errFetch
	}
	f := &filter{protocol: c.protocol, through: through}
	if text, err := f.body(top); err != nil || len(f.removed) > 0 {
		r.text, removed = text, f.removed
		return r, removed, err
	}
	return r, nil, nil
}

// members are the members of an object. One that is named twice is an error: two readers could take two of them.
func members(v gjson.Result) (all map[string]gjson.Result, err error) {
	all = map[string]gjson.Result{}
	v.ForEach(func(name, value gjson.Result) bool {
		if _, twice := all[name.Str]; twice && v.IsObject() {
			err = fmt.Errorf("ralph: the body of this request has the member %.40q twice; send it once", name.Str)
		}
		all[name.Str] = value
		return err == nil
	})
	return all, err
}

// fetches reports whether a part of a conversation names an address that the provider would fetch.
func fetches(v gjson.Result) (found bool) {
	v.ForEach(func(name, part gjson.Result) bool {
		switch name.Str {
		case "source":
			found = part.Get("type").Str == "url" || fetches(part)
		case "image_url", "file_url", "fileUri", "file_uri":
			at := strings.TrimSpace(part.Str + part.Get("url").Str)
			found = strings.HasPrefix(strings.ToLower(at), "http")
		case "fileData", "file_data", "output":
			found = fetches(part)
		case "messages", "contents", "content", "input", "parts", "":
			found = (v.IsArray() || part.IsArray()) && fetches(part)
		}
		return !found
	})
	return found
}

// clientTools are the kinds of tools that the agent runs itself. Any other kind is the provider's: it runs there, past
// the sandbox, and its cost is in no answer.
var clientTools = regex.Lazy(`^(|function|custom|namespace|local_shell|apply_patch|bash|text_editor|computer.*|memory|` +
	`tool_search.*|function_?[dD]eclarations|computer_?[uU]se)$`)

// edition of a provider's tool: "web_search_20250305" is "web_search".
var toolEdition = regex.Lazy(`_(\d{8}|preview.*)$`)

// providerMembers are members of a request that make the provider run something.
var providerMembers = []string{"mcp_servers", "web_search_options", "prompt"}

// filter removes the provider's tools from a request.
type filter struct {
	protocol Protocol
	through  []string
	removed  []string
}

// passes reports whether a tool of a kind may pass, and notes one that may not.
func (f *filter) passes(kind string) bool {
	kind = toolEdition.Regexp().ReplaceAllString(kind, "")
	if clientTools.MatchString(kind) || slices.Contains(f.through, kind) {
		return true
	}
	if !slices.Contains(f.removed, kind) {
		f.removed = append(f.removed, kind)
	}
	return false
}

// body is the text of a request without what may not pass. Without any tool, nothing may say how tools are chosen.
func (f *filter) body(top gjson.Result) ([]byte, error) {
	tools, err := f.tools(top.Get("tools"))
	if err != nil {
		return nil, err
	}
	for _, name := range providerMembers {
		if top.Get(name).Exists() && (name != "prompt" || f.protocol == Responses) {
			f.passes(name)
		}
	}
	var out bytes.Buffer
	top.ForEach(func(name, value gjson.Result) bool {
		raw := value.Raw
		switch name.Str {
		case "tools":
			raw = tools
		case "tool_choice", "toolConfig", "tool_config", "parallel_tool_calls":
			named := slices.ContainsFunc(f.removed, func(kind string) bool { return strings.Contains(raw, kind) })
			if named || tools == "" && len(f.removed) > 0 {
				raw = ""
			}
		default:
			if slices.Contains(providerMembers, name.Str) && slices.Contains(f.removed, name.Str) {
				raw = ""
			}
		}
		if raw != "" {
			out.WriteString("," + name.Raw + ":" + raw)
		}
		return true
	})
	return append(append([]byte("{"), bytes.TrimPrefix(out.Bytes(), []byte(","))...), '}'), nil
}

// tools is a list of tools without those that may not pass; "" if none is left. Gemini's tools are named by a member.
func (f *filter) tools(list gjson.Result) (text string, err error) {
	var kept []string
	list.ForEach(func(_, tool gjson.Result) bool {
		all, twice := members(tool)
		if err = twice; err != nil {
			return false
		}
		if f.protocol != Gemini {
			if f.passes(all["type"].Str) {
				kept = append(kept, tool.Raw)
			}
			return true
		}
		var parts []string
		tool.ForEach(func(name, value gjson.Result) bool {
			if f.passes(name.Str) {
				parts = append(parts, name.Raw+":"+value.Raw)
			}
			return true
		})
		if len(parts) > 0 {
			kept = append(kept, "{"+strings.Join(parts, ",")+"}")
		}
		return true
	})
	if len(kept) == 0 {
		return "", err
	}
	return "[" + strings.Join(kept, ",") + "]", err
}
