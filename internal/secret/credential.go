package secret

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"
)

// Credential is a part of a text that looks like someone's credential.
type Credential struct {
	Span
	Rule string // "aws-key"
	What string // "an access key of AWS"
}

// mostMatch is how long a credential may be, and shortMatch how long nearly all are.
const mostMatch, shortMatch = 16 << 10, 1 << 10

// at is where the credential is that begins with a mark at a place of a text; to is 0 if there is none.
func (f *form) at(text string, mark int) (from, to int) {
	from = mark
	for text[mark] == ':' && from > 0 && text[from-1] >= '0' && text[from-1] <= '9' { // the number before it
		from--
	}
	if strings.HasPrefix(f.looks.String(), `^(?:\b`) && from > 0 && isWord(text[from-1]) {
		return 0, 0
	}
	for _, most := range []int{shortMatch, mostMatch} {
		window := text[from:min(len(text), from+most)]
		m := f.looks.Regexp().FindStringIndex(window)
		if m == nil {
			return 0, 0
		}
		if to = from + m[1]; m[1] < len(window) {
			break
		}
	}
	return from, to
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
