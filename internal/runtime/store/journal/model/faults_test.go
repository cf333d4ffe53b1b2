package model

import (
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
)

// Parts of the protocol that can be omitted.
const (
	notCaughtUp          fault = "the log is not read after the process lock is acquired"
	notCompared          fault = "versions are not compared"
	forwardedFirst       fault = "a call is forwarded before its reservation is flushed"
	stopUnlocked         fault = "a stop does not wait for the process lock"
	useNotLogged         fault = "the use of an approval is not in the log"
	checkedOldCheckpoint fault = "an approval is checked against an old checkpoint, although it was used since"
	tailNotCut           fault = "a torn tail is not cut off"
	foldedFirst          fault = "the log is folded before it is flushed"
	foldedBack           fault = "an older fold overwrites a newer one"
	sealedForgotten      fault = "a start does not continue with the segment that follows a sealed one"
	begunAnew            fault = "a log without a name is treated as missing"
)

// TestFaults: without any one part of the protocol, the model finds a broken invariant.
func TestFaults(t *testing.T) {
	soak.Bulk(t)
	for _, test := range []struct {
		fault  fault
		w      world
		breaks string
	}{
		{notCaughtUp, counting, budgetHolds},
		{notCompared, counting, budgetHolds},
		{forwardedFirst, counting, budgetHolds},
		{forwardedFirst, stopping, onRecord},
		{stopUnlocked, stopping, stopHolds},
		{useNotLogged, approving, usedOnce},
		{checkedOldCheckpoint, approving, usedOnce},
		{tailNotCut, counting, budgetHolds},
		{tailNotCut, stopping, onRecord},
		{foldedFirst, stopping, neverAhead},
		{foldedBack, stopping, folded},
		{sealedForgotten, rolling, neverRefused},
		{begunAnew, rolling, onRecord},
	} {
		t.Run(string(test.fault), func(t *testing.T) {
			test.w.fault, test.w.named = test.fault, true
			for _, i := range invariants {
				if i.name != test.breaks {
					continue
				}
				f, broken := test.w.explore([]invariant{i})
				if broken == "" {
					t.Fatalf("of %d states none breaks: %s", len(f.from), test.breaks)
				}
				t.Logf("of %d states one breaks: %s\n%s", len(f.from), broken, f.trace())
			}
		})
	}
}
