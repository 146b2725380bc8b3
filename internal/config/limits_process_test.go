package config

import "testing"

func TestSize(t *testing.T) {
	row, err := find([]string{"limits", "disk"})
	noError(t, err)
	for size, want := range map[Size]int64{"": 0, "none": 0, "512MiB": 512 << 20, "64GiB": 64 << 30, "999999TiB": 999999 << 40} {
		if got := size.Bytes(); got != want {
			t.Errorf("%q is %d bytes, want %d", size, got, want)
		}
		if size != "" && !row.Pattern.MatchString(string(size)) {
			t.Errorf("%q is refused", size)
		}
	}
	for _, size := range []string{"", "0GiB", "1", "1GB", "1 GiB", "-1GiB", "1.5GiB", "1234567MiB"} {
		if row.Pattern.MatchString(size) {
			t.Errorf("%q is taken", size)
		}
	}
}

func TestUsualLimits(t *testing.T) {
	ten, none := 10, 0
	for _, test := range []struct {
		limits            Limits
		processors        int
		processes, memory int64
	}{
		{Limits{}, 4, 4096, 900}, {Limits{}, 64, 64 * 256, 900}, {Limits{Processes: &ten, Memory: "1MiB"}, 4, 10, 1 << 20},
		{Limits{Processes: &none, Memory: "none"}, 4, 0, 0},
	} {
		p, m := test.limits.MostProcesses(test.processors), test.limits.MostMemory(1000)
		if int64(p) != test.processes || m != test.memory {
			t.Errorf("%+v on %d processors: %d processes, %d bytes", test.limits, test.processors, p, m)
		}
	}
}
