package daemon

import (
	"runtime"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// impossibleTime bounds the work of looking for tools that can never be called.
// Who asks for the list of tools waits for it; what is not proved by then is listed.
const impossibleTime = 250 * time.Millisecond

// impossible finds the tools of which it is proved that they can never be called under a
// policy. One that could be called after a failure is not among them.
func impossible(whole *gate.Policy) func([]gate.Call, []string) []string {
	return func(tools []gate.Call, active []string) []string {
		p, err := activeNets(whole, active)
		if err != nil || p.Shadow() {
			return nil // all can be called, or nothing is known
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		spent := check.WorkClock()
		o := verify.Options{
			Known: true, States: check.StartStates,
			Stop: func() bool { return spent() > impossibleTime },
		}
		for _, c := range tools {
			o.Tools = append(o.Tools, verify.Tool{Name: c.Tool, Also: c.Also})
			o.Prove = append(o.Prove, verify.Reachable{Tool: gate.Tool{Name: c.Tool}})
		}
		var dead []string
		for i, found := range verify.Policy(p, o).Proofs {
			if check.NameOf(gate.Tool{Name: tools[i].Tool}, found).Callable == verify.Impossible {
				dead = append(dead, tools[i].Tool)
			}
		}
		return dead
	}
}

// activeNets is the policy of the nets of these names, of all if active is nil.
func activeNets(p *gate.Policy, active []string) (*gate.Policy, error) {
	if active == nil {
		return p, nil
	}
	var nets []gate.Net
	for _, n := range p.Nets() {
		if slices.Contains(active, n.Name) {
			nets = append(nets, n.Net)
		}
	}
	return gate.NewPolicy(nets, p.Options())
}
