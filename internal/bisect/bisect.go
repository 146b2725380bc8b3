// Package bisect finds out which of several changes do not go together, with few tries.
package bisect

// FindConflict are the changes, by their numbers from 0, that fail together: two of them where two are enough. All n of
// them are known to fail, none and each of them alone to pass. fails tries some of them, in ascending order; it is
// called about twice log n times, and its error ends the search.
func FindConflict(n int, fails func(some []int) (bool, error)) ([]int, error) {
	first, err := least(n, func(k int) (bool, error) { return fails(upTo(k)) })
	if err != nil || first == 1 {
		return upTo(first), err
	}
	last := first - 1
	with, err := least(last, func(k int) (bool, error) { return fails(append(upTo(k), last)) })
	if err != nil || with == 1 {
		return append(upTo(with), last), err
	}
	pair := []int{with - 1, last}
	if alone, err := fails(pair); err != nil || alone {
		return pair, err
	}
	return append(upTo(with), last), nil
}

// least is the smallest number from 1 to n that is bad; n is known to be.
func least(n int, bad func(k int) (bool, error)) (int, error) {
	good := 0
	for n-good > 1 {
		middle := (good + n) / 2
		is, err := bad(middle)
		switch {
		case err != nil:
			return n, err
		case is:
			n = middle
		default:
			good = middle
		}
	}
	return n, nil
}

func upTo(n int) []int {
	all := make([]int, n, n+1)
	for i := range all {
		all[i] = i
	}
	return all
}
