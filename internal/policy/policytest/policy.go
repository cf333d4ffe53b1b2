package policytest

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// A Policy is a policy that is being tested.
type Policy struct {
	Result *policy.Result
	Source policy.Source

	call  func(tool string) gate.Call // creates a call that has all names of the tool behind the proxy
	watch *watch                      // nil: coverage is not recorded
}
