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
		{"Parts", testParts}, {"Values", testValues}, {"List", testList},
		{"Stale", testStale}, {"Read", testRead}, {"Whole", testWhole}, {"Batch", testBatch}, {"Between", testBetween}, {"Built", testBuilt},
		{"Chain", testChain}, {"Records", testRecords}, {"Heads", testHeads}, {"Remove", testRemove},
		{"Approvals", testApprovals}, {"Uses", testUses}, {"Drop", testDrop}, {"Stops", testStops}, {"Clock", testClock},
		{"Changes", testChanges}, {"Concurrent", testConcurrent}, {"Closed", testClosed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}
