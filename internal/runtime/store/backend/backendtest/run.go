package backendtest

import (
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Fresh creates an empty database and returns a function that opens it. Each call to that function
// acts as a separate process. The databases are closed when the test ends.
type Fresh func(t *testing.T) (open func() backend.Backend)

// Run runs all Backend tests, each with its own database.
func Run(t *testing.T, fresh Fresh) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open func() backend.Backend)
	}{
		{"Parts", parts}, {"Values", values}, {"List", list},
		{"Stale", stale}, {"Read", read}, {"Whole", whole}, {"Batch", batch}, {"Between", between}, {"Built", built},
		{"Chain", chain}, {"Records", records}, {"Heads", heads}, {"Remove", remove},
		{"Approvals", approvals}, {"Uses", uses}, {"Drop", drop}, {"Stops", stops}, {"Clock", clock},
		{"Changes", changes}, {"Concurrent", concurrent}, {"Closed", closed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}
