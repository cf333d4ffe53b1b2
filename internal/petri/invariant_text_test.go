package petri_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/petri"
)

func ExampleInvariant_Text() {
	inv := petri.Invariant{Weights: []petri.Arc{{Place: 0, Weight: 1}, {Place: 2, Weight: 3}}, Constant: 2}
	fmt.Println(inv.Text([]string{"idle", "busy", "done"}))
	// Output: idle + 3 done = 2
}
