// Package leftover fails the tests of packages that leave goroutines behind.
package leftover

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a goroutine that is about to end may take for it: much
// longer than goleak waits, because the machine may be busy with other tests.
const patience = 30 * time.Second

// Main is the whole of a TestMain: it runs the tests, and fails where all have
// passed and a goroutine is left.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := find(patience); err != nil {
			fmt.Fprintln(os.Stderr, "when all tests had ended:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// find says which goroutines do not end within a time.
func find(within time.Duration) error {
	for began := time.Now(); ; {
		err := goleak.Find()
		if err == nil || time.Since(began) > within {
			return err
		}
	}
}
