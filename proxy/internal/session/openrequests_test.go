package session

import (
	"fmt"
	"slices"
	"testing"
)

// TestOpenRequests: requests are found by id, however many are open and in whichever order they
// end.
func TestOpenRequests(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} {
		var r openRequests
		var cancelled []string
		begin := func(i int) bool {
			id := fmt.Sprint(i)
			return r.Begin(id, CancelFunc(func(error) { cancelled = append(cancelled, id) }))
		}
		names := func(i int) []byte { return fmt.Appendf(nil, `{"requestId":%d}`, i) }
		for i := range 3 {
			if r.Knows(names(i)) || !begin(i) || begin(i) {
				t.Fatalf("the id %d does not become busy", i)
			}
		}
		r.CancelAll(nil)
		if slices.Sort(cancelled); !slices.Equal(cancelled, []string{"0", "1", "2"}) {
			t.Errorf("cancelled: %v", cancelled)
		}
		for n, i := range order {
			cancelled = nil
			if r.Cancelled(names(i)); !slices.Equal(cancelled, []string{fmt.Sprint(i)}) {
				t.Errorf("the cancellation of %d reaches %v", i, cancelled)
			}
			r.End(fmt.Sprint(i))
			r.Answered()
			if cancelled = nil; r.Any() != (n < 2) {
				t.Errorf("after the end of %v: open: %t", order[:n+1], r.Any())
			}
			if r.Cancelled(names(i)); cancelled != nil || !r.Knows(names(i)) {
				t.Errorf("%d has ended: cancelled %v, known: %t", i, cancelled, r.Knows(names(i)))
			}
			if !begin(i) {
				t.Errorf("the id of %d, which has ended, cannot be used again", i)
			}
			r.End(fmt.Sprint(i))
			r.Answered()
		}
		<-r.Drained()
	}
}
