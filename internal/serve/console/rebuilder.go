package console

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A rebuilder reconstructs net states by replaying stored records. It starts over whenever the
// replayed state becomes uncertain, for example because records are missing or the policy has
// changed.
type rebuilder struct {
	policy  *gate.Policy
	active  []string // names of the nets that are active now; nil if all nets are active
	durable bool     // whether states are stored in a database, where they survive a restart and other processes can change them

	run         *replay.Replay
	startReason string            // why stored records could not be replayed
	last        map[string]uint64 // maps each writer to the sequence number of its last replayed record
	loaded      bool              // whether a record of the event "policy" has been replayed
}

func newRebuilder(fresh *gate.State, durable bool) (*rebuilder, error) {
	p := &rebuilder{policy: fresh.Policy(), durable: durable, last: map[string]uint64{}, startReason: "older records are not read"}
	nets := p.policy.NetsOf(fresh)
	active := list.Filter(nets, func(n gate.NetState) bool { return n.Active })
	if len(active) < len(nets) {
		p.active = list.Map(active, func(n gate.NetState) string { return n.Name })
	}
	var err error
	p.run, err = replay.New(replay.Options{Policy: p.policy, Active: p.active, Durable: durable})
	return p, err
}

// restart drops all states that have been rebuilt so far, and starts a new replay. The given reason
// is shown on pages.
func (p *rebuilder) restart(because string) (err error) {
	p.startReason, p.loaded = because, false
	p.run, err = replay.New(replay.Options{Policy: p.policy, Active: p.active, Durable: p.durable, Partial: true})
	return err
}

// boundary returns the reason why the replay must start over at the given record. It returns "" if
// the replay can continue with the record.
func (p *rebuilder) boundary(r *trail.Record, e *trail.Entry) string {
	before := p.last[r.Writer]
	p.last[r.Writer] = r.Seq
	at := e.Time.Local().Format("2006-01-02 15:04:05 MST")
	switch other := e.Policy != p.policy.Fingerprint(); {
	case before > 0 && r.Seq != before+1:
		return fmt.Sprintf("records are missing before %s", at)
	case e.Event == "policy" && other:
		return fmt.Sprintf("a different policy took effect at %s and has changed since", at)
	case e.Event == "decision" && other && e.Policy != "":
		return fmt.Sprintf("a call was decided under another policy at %s", at)
	case e.Event == "policy" && p.durable && !slices.Equal(e.Active, p.active):
		return fmt.Sprintf("a process had different active nets at %s", at)
	case (e.Event == "activate" || e.Event == "deactivate") && (p.durable || !p.loaded):
		return fmt.Sprintf("a net was activated or deactivated at %s", at)
	}
	return ""
}

// add replays a record. It reports whether the caller must drop all steps rebuilt so far.
func (p *rebuilder) add(r *trail.Record, e *trail.Entry) (forget bool, err error) {
	if why := p.boundary(r, e); why != "" {
		forget = true
		if err := p.restart(why); err != nil {
			return true, err
		}
		if e.Policy != "" && e.Policy != p.policy.Fingerprint() {
			return true, nil
		}
	}
	p.loaded = p.loaded || e.Event == "policy"
	p.run.Add(r, e)
	return forget, nil
}

// state returns the state of the session's nets after the last replayed record. If the state is
// unknown, it also returns the reason.
func (p *rebuilder) state(e *trail.Entry) (state *replay.State, reason string) {
	if state, reason = p.run.State(e.Session, e.Time); reason == replay.UnknownBeginning {
		reason += ": " + p.startReason
	}
	return state, reason
}
