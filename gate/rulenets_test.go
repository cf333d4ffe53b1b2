package gate_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// ruleNet returns a net as rules produce it, with extra places and their tokens.
func ruleNet(name string, cause gate.Cause, reason string, more map[string]int, ts ...gate.Transition) gate.Net {
	n := gate.Net{Name: name, Labels: &gate.Labels{}, Cause: cause, Reason: reason, Places: []string{"idle", "ready"}, Initial: map[string]int{"idle": 1}}
	for _, place := range slices.Sorted(maps.Keys(more)) {
		n.Places = append(n.Places, place)
		n.Initial[place] = more[place]
	}
	n.Transitions = append([]gate.Transition{{Name: "start", Inputs: []string{"idle"}, Outputs: []string{"ready"}}}, ts...)
	return n
}

func sequenceNet(a, b string) gate.Net {
	return ruleNet("require-"+a+"-before-"+b, gate.CauseSequence, b+" requires a successful call to "+a+" first.", map[string]int{"gate": 0},
		gate.Transition{Name: "do-" + a, Inputs: []string{"ready"}, Outputs: []string{"gate"}, Tools: gate.Tools(a), Deferred: true, Observe: true},
		gate.Transition{Name: "then-" + b, Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools(b)})
}

func approvalNet(b string) gate.Net {
	return ruleNet("approve-before-"+b, gate.CauseApproval, b+" requires human approval.", nil,
		gate.Transition{Name: "approve", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools(b), Manual: true})
}

func blockNet(a string) gate.Net {
	return ruleNet("block-"+a, gate.CauseBlock, a+" is blocked and cannot be called.", map[string]int{"locked": 0},
		gate.Transition{Name: "do-" + a, Inputs: []string{"locked"}, Outputs: []string{"locked"}, Tools: gate.Tools(a)})
}

func limitNet(a string, n int, per string) gate.Net {
	name, reason := fmt.Sprintf("limit-%s-%d", a, n), fmt.Sprintf("%s has reached its limit of %d calls per %s.", a, n, per)
	if per == "session" {
		return ruleNet(name, gate.CauseLimit, reason, map[string]int{"budget": n},
			gate.Transition{Name: "do-" + a, Inputs: []string{"ready", "budget"}, Outputs: []string{"ready"}, Tools: gate.Tools(a)})
	}
	return ruleNet(name+"-per-"+per, gate.CauseLimit, reason, map[string]int{"budget": n, "spent": 0},
		gate.Transition{Name: "do-" + a, Inputs: []string{"ready", "budget"}, Outputs: []string{"ready", "spent"}, Tools: gate.Tools(a)},
		gate.Transition{Name: "refill", Inputs: []string{"ready", "spent"}, Outputs: []string{"ready", "budget"}, Tools: gate.Tools(per), Observe: true})
}
