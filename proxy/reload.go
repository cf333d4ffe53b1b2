package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// A Replacement is a new policy for a running proxy, along with related options; see [Options] for
// its fields.
type Replacement struct {
	Policy     *gate.Policy
	Active     []string
	Advertise  string // "all" or "possible"; "enabled" cannot be changed at run time
	Remedy     func(*gate.State, gate.Call, *gate.Refusal) Remedy
	Impossible func(tools []gate.Call, active []string) []string
	Pipefail   bool // see [Options]
	Files      []File

	Reset []string // names of the nets to reset to their initial marking, whatever their current marking
	Try   bool     // dry run: only report what would happen to the nets
}

// ErrHeld is returned by [Proxy.Reload] if the new policy changes a hand-written net that is not at
// its initial marking or has calls in flight.
var ErrHeld = admission.ErrHeld

// Reload puts another policy into force. Limits that sessions have used up stay used up, and
// unchanged nets keep their state. Calls in flight end under the policy that admitted them; see
// [gate.Policy.Adopt]. If Reload returns an error, the policy is unchanged.
func (p *Proxy) Reload(ctx context.Context, r Replacement) ([]operator.NetFate, error) {
	before := p.admission.Generation()
	if err := checkKnownNets(r.Policy, r.Reset); err != nil {
		return nil, err
	}
	report, err := p.admission.Swap(ctx, r.generation(), admission.SwapOptions{Reset: r.Reset, Try: r.Try})
	if err != nil && !errors.Is(err, ErrHeld) {
		return nil, err
	}
	if err == nil && !r.Try {
		p.relist()
	}
	return fatesOf(before.Policy, r, report), err
}

// relist updates the lists of tools after the nets or the accepted definitions have changed.
func (p *parts) relist() {
	p.advertiser.TouchAll()
	if p.pool.Catalogue.Relist() {
		p.relay.Announce(spec.ListChanged)
	}
}

// generation returns the policy along with everything that is derived from it.
func (r Replacement) generation() *admission.Generation {
	g := admission.NewGeneration(r.Policy, r.Active)
	g.Advertise, g.PromptsByList = r.Advertise, relay.NamesPrompts(r.Policy)
	g.Remedy, g.Impossible, g.Pipefail = r.Remedy, r.Impossible, r.Pipefail
	for _, f := range r.Files {
		g.Files = append(g.Files, audit.File(f))
	}
	return g
}

// checkKnownNets returns an error if one of the names does not belong to a net.
func checkKnownNets(p *gate.Policy, names []string) error {
	var all []string
	for _, n := range p.Nets() {
		all = append(all, n.Name)
	}
	for _, name := range names {
		switch near := text.Nearest(name, all); {
		case slices.Contains(all, name):
		case near != "":
			return fmt.Errorf("unknown net %q; did you mean %q?", name, near)
		default:
			return fmt.Errorf("unknown net %q; the nets are: %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}

// maxShownHeld is the maximum number of sessions named for each net that prevents a reload.
const maxShownHeld = 10

// fatesOf summarizes, for each net, what a reload does to it: first for the nets of the new policy,
// then for the nets that it drops.
func fatesOf(before *gate.Policy, r Replacement, report admission.Report) []operator.NetFate {
	_, plain := r.Policy.Adopt(before.NewState(nil), gate.AdoptOptions{Reset: r.Reset})
	fates, at := make([]operator.NetFate, len(plain)), map[string]int{}
	for i, k := range plain {
		fates[i] = operator.NetFate{Net: k.Net, Fate: k.Fate.String(), From: k.From}
		at[k.Net] = i
	}
	for _, s := range report.Sessions {
		for _, k := range s.Nets {
			f := &fates[at[k.Net]]
			if k.Lost {
				f.Lost++
			}
			if k.Fate == gate.Held {
				if f.Fate = k.Fate.String(); len(f.Where) < maxShownHeld {
					f.Where = append(f.Where, placeOf(s.Key))
				}
			}
		}
	}
	return fates
}

// placeOf describes a session, or the sessions that share a state.
func placeOf(k admission.Key) string {
	switch {
	case k.Session != "":
		return "session " + k.Session
	case k.Principal != "":
		return "all sessions of " + text.Escape(k.Principal)
	}
	return "all sessions"
}
