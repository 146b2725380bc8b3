package config

import (
	"strings"

	"github.com/agext/levenshtein"
)

// nearest are the allowed keys that somebody may have meant: at most two letters away, whatever their case.
func nearest(keys, allowed []string) []string {
	var meant []string
	for _, key := range keys {
		best, least := "", 3
		for _, candidate := range allowed {
			if d := levenshtein.Distance(strings.ToLower(key), strings.ToLower(candidate), nil); d < least &&
				d < len(candidate)-1 {
				best, least = candidate, d
			}
		}
		if best != "" {
			meant = append(meant, best)
		}
	}
	return meant
}
