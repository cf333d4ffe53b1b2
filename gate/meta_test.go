package gate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestRejectedMeta checks that in-place changes by a validator, including those inside maps and
// slices, are undone if the call is rejected.
func TestRejectedMeta(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "keep: p -> p [deferred] | keep", "try: p -> p | try")
	n.OnSuccess = func(f gate.Firing) {
		f.Meta["map"] = map[string]any{"a": []any{1, nil}, "none": nil}
		f.Meta["typed"] = map[string][]string{"a": {"x"}, "none": nil}
		f.Meta["list"] = [2]int{1, 2}
		f.Meta["nothing"] = map[string]int(nil)
	}
	var seen []string
	n.Validate = func(f gate.Firing) error {
		if f.Transition != "try" {
			return nil
		}
		seen = append(seen, fmt.Sprint(f.Meta))
		f.Meta["map"].(map[string]any)["a"].([]any)[0] = "changed"
		f.Meta["map"].(map[string]any)["b"] = "changed"
		f.Meta["typed"].(map[string][]string)["a"][0] = "changed"
		return errors.New("no")
	}
	p := play(t, gate.PolicyOptions{}, n)
	p.success("keep")
	p.refuse("try", gate.KindValidation, "n")
	p.refuse("try", gate.KindValidation, "n")
	if want := "map[list:[1 2] map:map[a:[1 <nil>] none:<nil>] nothing:map[] typed:map[a:[x] none:[]]]"; seen[0] != want || seen[1] != want {
		t.Errorf("%q, want twice %s", seen, want)
	}
}
