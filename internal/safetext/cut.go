package safetext

import (
	"strings"
)

func FirstRunes(s string, most int) string {
	if r := []rune(s[:min(len(s), 4*most+1)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func Shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func Clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

func UpperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
