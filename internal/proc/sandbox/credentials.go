package sandbox

import (
	"regexp"
	"strings"
)

// withoutCredentials returns a git configuration without headers, tokens, helpers and the users in HTTP URLs. keys names
// what it removed, for example "http.https://github.com/.extraheader".
func withoutCredentials(config string) (text string, keys []string) {
	gitSection := regexp.MustCompile(`^\s*\[([^\]"\s]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]`)
	gitKey := regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9-]*)`)
	secretKey := regexp.MustCompile(`extraheader|token|password|secret`)
	userInfo := regexp.MustCompile(`(?i)(https?://)[^/@\s"]+@`)
	var out strings.Builder
	section := ""
	lines := strings.SplitAfter(config, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) && i+1 < len(lines) {
			i++
			line += lines[i]
		}
		head := ""
		if m := gitSection.FindStringSubmatch(line); m != nil {
			head, line = m[0], line[len(m[0]):]
			section = strings.ToLower(m[1])
			if m[2] != "" {
				section += "." + m[2]
			}
			if userInfo.MatchString(section) {
				keys = append(keys, userInfo.ReplaceAllString(section, "$1"))
			}
		}
		if m := gitKey.FindStringSubmatch(line); m != nil {
			key := strings.ToLower(m[1])
			shown := userInfo.ReplaceAllString(section, "$1") + "." + key
			switch {
			case secretKey.MatchString(key), key == "helper" && strings.HasPrefix(section, "credential"):
				line, keys = "\n", append(keys, shown)
			case userInfo.MatchString(line):
				keys = append(keys, shown)
			}
		}
		out.WriteString(userInfo.ReplaceAllString(head+line, "$1"))
	}
	return out.String(), keys
}
