package proc

import (
	"os"
	"strconv"
	"strings"
)

type mount struct{ device, root, point, kind string }

// mounts reads a table of mounts. A name with a space in it is not found by what is made of it here.
func mounts(file string) (list []mount) {
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(kind) > 0 {
			list = append(list, mount{device: fields[2], root: fields[3], point: fields[4], kind: kind[0]})
		}
	}
	return list
}

// kernelTable reads lines such as "MemTotal:  24682496 kB", in bytes.
func kernelTable(file string) map[string]int64 {
	table := map[string]int64{}
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, ":")
		if fields := strings.Fields(rest); len(fields) == 2 && fields[1] == "kB" {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			table[name] = n << 10
		}
	}
	return table
}

// kernelCount reads a line such as "oom_kill 3".
func kernelCount(file, name string) int64 {
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}
