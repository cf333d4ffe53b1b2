package main

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A scenario is one of the situations that the harness measures. It fills one row of the table.
type scenario struct {
	id, what string
	memory   float64 // maximum cost of the target "memory", as a multiple of the cost of the target "floor"; 0 means no goal
	goal     goal    // goal for the target "default", relative to the target "memory"
}

// A goal is a limit on the cost or the rate of the target "default", relative to the target
// "memory".
type goal int

const (
	noGoal    goal = iota
	costGoal       // the cost is at most mostCost times the cost of "memory"
	flushGoal      // the cost is at most mostCost times the cost of "memory", plus one flush
	rateGoal       // the rate of calls is at least leastRate times the rate of "memory"
)

const (
	mostCost  = 1.15
	leastRate = 0.67
)

const defaultScenarios = "S1,S2,S3,S4,S5a,S5b,S5c"

// scenarios contains the harness's scenarios except S9. A table row has room for one value per
// target, but S9 measures several.
var scenarios = [...]scenario{
	{"S1", "stdio, one call at a time", 1.5, costGoal},
	{"S2", "stdio, 64 calls in flight", 2.6, costGoal},
	{"S3", "HTTP, one call at a time", 2.0, flushGoal},
	{"S4", "HTTP, 64 sessions", 3.3, rateGoal},
	{"S5a", "HTTP to stdio, one call at a time", 1.4, flushGoal},
	{"S5b", "HTTP to stdio, 64 sessions", 1.9, rateGoal},
	{"S5c", "stdio to HTTP, one call at a time", 1.2, costGoal},
	{"S6a", "stdio, results of 1 MiB", 0, noGoal},
	{"S6b", "HTTP, results of 1 MiB", 0, noGoal},
	{"S7a", "stdio, lists of 1005 tools", 0, noGoal},
	{"S7b", "HTTP, lists of 1005 tools", 0, noGoal},
	{"S8a", "stdio, start to first list", 0, noGoal},
	{"S8b", "HTTP, start to first list", 0, noGoal},
}

// choose returns the scenarios in a comma-separated list of names, in the order of [scenarios].
func choose(only string) (chosen []scenario, err error) {
	wanted := map[string]bool{}
	for _, name := range strings.Split(only, ",") {
		found := false
		for _, s := range scenarios {
			if name == s.id || name == strings.TrimRight(s.id, "abc") {
				wanted[s.id], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown scenario %q", name)
		}
	}
	return list.Filter(scenarios[:], func(s scenario) bool { return wanted[s.id] }), nil
}
