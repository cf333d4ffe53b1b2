package policytest

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// A Policy is a policy under test.
type Policy struct {
	Result *policy.Result
	Source policy.Source

	call  func(tool string) gate.Call // function that creates a call to a tool; see [Loader].Call
	watch *watch                      // records coverage; nil if disabled
}
