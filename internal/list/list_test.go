package list_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/petrigate/petrigate/internal/list"
)

func even(n int) bool { return n%2 == 0 }

func TestListFunctions(t *testing.T) {
	all := []int{1, 2, 3, 4}
	if got := list.Map(all, strconv.Itoa); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
		t.Errorf("Map returns %q", got)
	}
	twice := func(n int) []int { return []int{n, n} }
	if got := list.FlatMap(all[:2], twice); !slices.Equal(got, []int{1, 1, 2, 2}) {
		t.Errorf("FlatMap returns %v", got)
	}
	if got := list.Filter(all, even); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("Filter returns %v", got)
	}
	if got := list.Indexes(all, even); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("Indexes returns %v", got)
	}
	if got := list.Find(all, even); got != &all[1] {
		t.Errorf("Find returns %v, want the address of the first even number", got)
	}
	if got := list.Sorted([]int{2, 1, 2}); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("Sorted returns %v", got)
	}
	if got := list.Add(slices.Clip(all), 4, 5, 5); !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
		t.Errorf("Add returns %v", got)
	}
	if !slices.Equal(all, []int{1, 2, 3, 4}) {
		t.Errorf("the list is %v afterwards", all)
	}
}

func TestEmptyResultsAreNil(t *testing.T) {
	none := []int{}
	if got := list.Map(none, strconv.Itoa); got != nil {
		t.Errorf("Map returns %v", got)
	}
	if got := list.Filter([]int{1}, even); got != nil {
		t.Errorf("Filter returns %v", got)
	}
	if got := list.Indexes([]int{1}, even); got != nil {
		t.Errorf("Indexes returns %v", got)
	}
	if got := list.Find([]int{1}, even); got != nil {
		t.Errorf("Find returns %v", got)
	}
	if got := list.Sorted(none); got != nil {
		t.Errorf("Sorted returns %v", got)
	}
	if got := list.Add[int](nil); got != nil {
		t.Errorf("Add returns %v", got)
	}
}
