package plan

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Order lists the stories' ids in an order in which they can be done: dependencies first, then by priority, then as the
// file has them. An unknown id and a cycle are errors that name the path: "US-002 → US-003 → US-002".
func (p Plan) Order() ([]string, error) {
	waits, err := p.waits()
	if err != nil {
		return nil, err
	}
	left := make([]int, len(p.Stories)) // how many stories each still waits for
	after := make([][]int, len(p.Stories))
	ready := &readyStories{stories: p.Stories}
	for i, on := range waits {
		left[i] = len(on)
		for _, j := range on {
			after[j] = append(after[j], i)
		}
		if len(on) == 0 {
			ready.at = append(ready.at, i)
		}
	}
	heap.Init(ready)
	order := make([]string, 0, len(p.Stories))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, p.Stories[i].ID)
		for _, j := range after[i] {
			if left[j]--; left[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
	if len(order) < len(p.Stories) {
		return nil, fmt.Errorf("stories wait for each other: %s; take one of these out of dependsOn",
			strings.Join(p.cycle(waits, left), " → "))
	}
	return order, nil
}

// waits lists for every story the places of those that it depends on.
func (p Plan) waits() ([][]int, error) {
	places := make(map[string]int, len(p.Stories))
	for i, s := range p.Stories {
		places[s.ID] = i
	}
	waits := make([][]int, len(p.Stories))
	for i, s := range p.Stories {
		for _, id := range s.DependsOn {
			at, ok := places[id]
			if !ok {
				return nil, fmt.Errorf("story %s depends on %s, which is no story of the plan; add it, or take it out of dependsOn",
					s.ID, safetext.Quoted(id))
			}
			waits[i] = append(waits[i], at)
		}
	}
	return waits, nil
}

// readyStories is a heap of the places of stories that wait for nothing more.
type readyStories struct {
	stories []Story
	at      []int
}

func (r *readyStories) Len() int { return len(r.at) }

func (r *readyStories) Less(i, j int) bool {
	a, b := r.at[i], r.at[j]
	return cmp.Or(cmp.Compare(r.stories[a].Priority, r.stories[b].Priority), cmp.Compare(a, b)) < 0
}

func (r *readyStories) Swap(i, j int) { r.at[i], r.at[j] = r.at[j], r.at[i] }

func (r *readyStories) Push(x any) { r.at = append(r.at, x.(int)) }

func (r *readyStories) Pop() any {
	last := r.at[len(r.at)-1]
	r.at = r.at[:len(r.at)-1]
	return last
}

// mostOfCycle bounds how many stories of a cycle a message names.
const mostOfCycle = 20

// cycle follows what the first story that could not be placed waits for until it comes to one for the second time.
func (p Plan) cycle(waits [][]int, left []int) []string {
	at := slices.IndexFunc(left, func(n int) bool { return n > 0 })
	when := map[int]int{} // a story's place to its step
	var path []string
	for {
		if first, ok := when[at]; ok {
			path = append(path[first:], p.Stories[at].ID)
			break
		}
		when[at] = len(path)
		path = append(path, p.Stories[at].ID)
		at = waits[at][slices.IndexFunc(waits[at], func(on int) bool { return left[on] > 0 })]
	}
	if n := len(path); n > mostOfCycle {
		path = slices.Concat(path[:mostOfCycle-2], []string{fmt.Sprintf("… %d more …", n-mostOfCycle)}, path[n-2:])
	}
	return path
}
