package gateway

import (
	"io"
	"net/url"
	"path"
	"strings"
	"testing"
)

// FuzzUsage: an answer in pieces of any size passes as it is, never says a negative number, and says the same as in one
// piece.
func FuzzUsage(f *testing.F) {
	for i, said := range []string{messageStart + messageText + messageEnd,
		`{"model":"m","usage":{"input_tokens":1}}`,
		stream(`{"response":{"usage":{"input_tokens":9,"output_tokens":1}}}`, "[DONE]"),
		`[{"usageMetadata":{"promptTokenCount":3}},{"usageMetadata":{}}]`, "data: {\"usage\":\ndata: {}}\r\n\r\n",
		`{"a":"\\\"`} {
		f.Add(said, 1+i, uint8(i))
	}
	f.Fuzz(func(t *testing.T, said string, size int, which uint8) {
		if size < 1 {
			return
		}
		protocol := allProtocols[int(which)%len(allProtocols)]
		var whole tally
		for i, size := range []int{len(said) + 1, size} {
			ledger := newLedger(Prices{Models: map[string]Price{}}, Limit{}, func(string) {})
			a := &account{ledger: ledger, tally: tally{protocol: protocol}}
			m := newMeter(io.NopCloser(pieces(said, size)), a, usual.idle, func() {})
			passed, err := io.ReadAll(m)
			if err != nil || string(passed) != said {
				t.Fatalf("%q became %q, %v", said, passed, err)
			}
			u, _ := ledger.usage()
			if min(u.Input, u.CacheRead, u.CacheWrite, u.Output) < 0 {
				t.Fatalf("%+v", u)
			}
			if i == 0 {
				whole = a.tally
			}
			if said != "" && said[0] == '{' && a.tally != whole { // a stream's text is counted by lines that are kept
				t.Fatalf("%+v\nin pieces of %d, else %+v", a.tally, size, whole)
			}
		}
	})
}

// FuzzGate: what passes is one of a few clean paths, whatever is asked.
func FuzzGate(f *testing.F) {
	for _, asked := range []string{messages, generate, "/v1/../v1/messages",
		"/v1beta/models/..%2fx:generateContent", "//v1/messages",
		"/v1beta1/publishers/google/models/m@1:countTokens", "/v1/models", "/v1beta/models/a/b:generateContent"} {
		f.Add("POST", asked)
		f.Add("GET", asked)
	}
	f.Fuzz(func(t *testing.T, method, asked string) {
		c, ok := gate(method, asked, allProtocols)
		if !ok {
			return
		}
		u, err := url.ParseRequestURI(asked)
		if err != nil || u.Path != asked || path.Clean(asked) != asked || u.Host != "" || u.RawQuery != "" {
			t.Errorf("%q passed", asked)
		}
		if strings.Count(asked, "/") > 5 || !strings.HasPrefix(asked, "/v1") || strings.ContainsAny(asked, "%\\;?# \r\n") {
			t.Errorf("%q passed", asked)
		}
		if method != "POST" && (method != "GET" || c.counted) || (c.model != "") != (c.protocol == Gemini) {
			t.Errorf("%s %q: %+v", method, asked, c)
		}
	})
}
