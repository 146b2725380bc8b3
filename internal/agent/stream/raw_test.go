package stream

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	var got []string
	members(` { "a" : "x\\\"}" ,"b":[{"c":"]"} , 1 ], "": -1.5e3,"n":null,"o":{},"e":"" , "t" : true }`[1:],
		func(name, value string) { got = append(got, name+"="+value) })
	want := []string{"a=" + `"x\\\"}"`, `b=[{"c":"]"} , 1 ]`, "=-1.5e3", "n=null", "o={}", `e=""`, "t=true"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzMembers: what is read without a copy is what a reader of the whole reads.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":"x","b":{"c":[1,"}"]},"d":-1.5,"e":null}`)
	f.Add("{ \"a\" :\t\"\\\\\" , \"b\\n\": [\n] }")
	f.Add(`{"":"\u0000","a":true}`)
	f.Fuzz(func(t *testing.T, in string) {
		o := gjson.Parse(in)
		if !gjson.Valid(in) || !o.IsObject() {
			t.Skip()
		}
		var got, want [][2]string
		members(o.Raw, func(name, value string) { got = append(got, [2]string{name, value}) })
		o.ForEach(func(name, value gjson.Result) bool {
			want = append(want, [2]string{name.Raw[1 : len(name.Raw)-1], value.Raw})
			return true
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	})
}

// FuzzAnswer: a long answer is told as a short one is.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{"some code\n", "é\\\"", "\t", "x", "\n\n", "\U0001F600"} {
		f.Add(text, 7, 9000)
	}
	f.Fuzz(func(t *testing.T, text string, before, times int) {
		text = strings.ToValidUTF8(strings.Repeat("y", max(before, 0)%9000)+strings.Repeat(text, max(times, 0)%20000), "")
		if len(text) > 1<<18 {
			t.Skip()
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		var got, want Tool
		got.answerAs(strings.TrimSpace(b.String()))
		want.answer(text)
		if got != want {
			t.Errorf("%.20q, %d bytes: got %d chars, %d lines and %d bytes, want %d, %d, %d", text, len(text), got.Chars,
				got.Lines, len(got.Output), want.Chars, want.Lines, len(want.Output))
		}
	})
}
