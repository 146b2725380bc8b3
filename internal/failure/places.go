package failure

import "strings"

// noPlaces takes the numbers of lines and columns off the names of files: "a.go:3:5", "a.ts(3,5)", "A.java:[3,5]",
// "Makefile:3".
func noPlaces(line string) string {
	var b strings.Builder
	done := 0
	for i := 1; i < len(line); i++ {
		if c := line[i]; c != ':' && c != '(' && c != '[' {
			continue
		}
		if n := placeLen(line[i:]); n > 0 && endsFile(line[done:i]) {
			b.WriteString(line[done:i])
			done = i + n
			i = done - 1
		}
	}
	if done == 0 {
		return line
	}
	b.WriteString(line[done:])
	return b.String()
}

// placeLen is how long the place is that a text begins with; 0: it begins with none.
func placeLen(text string) int {
	i, closer := 1, byte(0)
	switch {
	case text[0] == '(':
		closer = ')'
	case text[0] == '[':
		closer = ']'
	case strings.HasPrefix(text, ":["):
		i, closer = 2, ']'
	}
	for first := true; ; first = false {
		begin := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		if i == begin {
			if first {
				return 0
			}
			i-- // what divides was not followed by a number
			break
		}
		if i == len(text) || strings.IndexByte(":.,-", text[i]) < 0 || text[i] == ',' && closer == 0 {
			break
		}
		i++
		if closer != 0 && i < len(text) && text[i] == ' ' {
			i++
		}
	}
	if closer == 0 {
		return i
	}
	if i < len(text) && text[i] == closer {
		return i + 1
	}
	return 0
}

// endsFile reports whether a text ends with the name of a file, or what stands for one.
func endsFile(text string) bool {
	text = strings.TrimRight(text, `'"`)
	if strings.HasSuffix(text, ">") || strings.HasSuffix(text, "]") || strings.HasSuffix(text, "akefile") ||
		strings.HasSuffix(text, "Dockerfile") {
		return true
	}
	begin := strings.LastIndexAny(text, " \t\"'()[]<>{},;=|/") + 1
	name := text[begin:]
	return extension(name) != "" || strings.HasPrefix(text[strings.LastIndexByte(text, ' ')+1:], "node:") ||
		strings.Contains(text, "(node:")
}
