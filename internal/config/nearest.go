package config

import "strings"

// nearest are the allowed keys that somebody may have meant: at most two letters away, whatever their case.
func nearest(keys, allowed []string) []string {
	var meant []string
	for _, key := range keys {
		best, least := "", 3
		for _, candidate := range allowed {
			if d := distance(strings.ToLower(key), strings.ToLower(candidate)); d < least && d < len(candidate)-1 {
				best, least = candidate, d
			}
		}
		if best != "" {
			meant = append(meant, best)
		}
	}
	return meant
}

// distance is how many letters must be put in, taken out or changed to make b of a (Levenshtein); 3 stands for more.
func distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
