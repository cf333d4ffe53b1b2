// Package leftover makes the tests of a package fail if they leak goroutines.
package leftover

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long Main waits for goroutines to end. It is much longer than goleak's default,
// because the machine may be busy with other tests.
const patience = 30 * time.Second

// Main runs a package's tests and exits. It must be called from TestMain. If all tests pass but
// goroutines are still running, it exits with an error.
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

// find returns an error that lists the goroutines still running after the given time, if any.
func find(within time.Duration) error {
	for began := time.Now(); ; {
		err := goleak.Find()
		if err == nil || time.Since(began) > within {
			return err
		}
	}
}
