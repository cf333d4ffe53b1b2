package main

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policytest"
)

// callsUnder makes calls under the policy of tests.
func callsUnder(p *policytest.Policy) func(tool string) gate.Call { return check.CallsUnder(p.Config) }
