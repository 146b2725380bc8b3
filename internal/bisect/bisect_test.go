package bisect

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestApart: the changes that fail together are found, wherever they stand, with few tries.
func TestApart(t *testing.T) {
	for n := 2; n <= 16; n++ {
		for a := range n {
			for b := a + 1; b < n; b++ {
				tries := 0
				got, err := FindConflict(n, func(some []int) (bool, error) {
					tries++
					return slices.Contains(some, a) && slices.Contains(some, b), nil
				})
				if err != nil || !slices.Equal(got, []int{a, b}) || tries > 9 {
					t.Errorf("%d and %d of %d: %v after %d tries (%v)", a, b, n, got, tries, err)
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		n     int
		fails func(some []int) (bool, error)
		want  string
	}{
		{"three that fail together alone", 4, func(some []int) (bool, error) {
			return slices.Contains(some, 0) && slices.Contains(some, 1) && slices.Contains(some, 3), nil
		}, "[0 1 3] <nil>"},
		{"one that fails alone, against all that is known", 3,
			func(some []int) (bool, error) { return slices.Contains(some, 0), nil }, "[0] <nil>"},
		{"one change", 1, nil, "[0] <nil>"},
		{"a search that is stopped", 4, func([]int) (bool, error) { return false, errors.New("stopped") },
			"[0 1 2 3] stopped"},
	} {
		got, err := FindConflict(c.n, c.fails)
		if fmt.Sprint(got, " ", err) != c.want {
			t.Errorf("%s: %v %v, want %s", c.name, got, err, c.want)
		}
	}
}
