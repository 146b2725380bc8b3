package wording

import (
	"testing"
)

// TestVerdictInWords: what ends with a reviewer's JSON object ends with its reasons, and nothing else changes.
func TestVerdictInWords(t *testing.T) {
	for said, want := range map[string]string{
		"I did it.": "I did it.",
		"{}":        "{}",
		`{"verdict":"approve","summary":"Good."}`:                                                                                     "Good.",
		"Look:\n```json\n{\"verdict\":\"approve\",\"summary\":\"Good.\",\"issues\":[]}\n```":                                          "Look:\nGood.",
		`{"verdict":"request_changes","summary":"No.","issues":[{"file":"a.go","line":3,"problem":"x"},{"file":null,"problem":"y"}]}`: "No.\na.go:3: x\ny",
		`{"verdict":7}`: `{"verdict":7}`,
		`{"verdict":`:   `{"verdict":`,
	} {
		if got := verdictInWords(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
}
