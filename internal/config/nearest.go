package config

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// nearest are the allowed keys that may have been meant.
func nearest(keys, allowed []string) (meant []string) {
	for _, key := range keys {
		if best := safetext.Nearest(key, allowed); best != "" {
			meant = append(meant, best)
		}
	}
	return meant
}

// elsewhere are the paths of the keys of a name in other objects: agent.idleTimeout.
func elsewhere(key string) (paths []string) {
	var look func(at []string, rows []Setting)
	look = func(at []string, rows []Setting) {
		for _, row := range rows {
			path := append(slices.Clone(at), row.Key)
			if row.Key == key {
				paths = append(paths, keyPath(path))
			}
			look(path, row.Keys)
		}
	}
	look(nil, root().Keys)
	return paths
}
