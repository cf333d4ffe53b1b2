package console

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// run adds steps to the history until ctx is done. It first receives the stored records from the
// channel and rebuilds their steps. If the channel is nil, no records are stored. It then adds
// steps for new records in the audit feed. It calls state to get the current state of a session.
//
// If the follower of the feed is nil, run returns at once. Otherwise, run closes the follower at
// the end.
func (h *history) run(ctx context.Context, live *audit.Follower, before <-chan []trail.Record, durable bool, state func(session string) (*gate.State, error)) {
	defer close(h.done)
	if live == nil {
		return
	}
	defer live.Close()
	h.durable = durable
	h.rebuildAll(ctx, before, state)
	close(h.ready)
	for {
		select {
		case <-live.Ready():
			records, lost := live.Take()
			h.add(records, lost, state)
		case <-ctx.Done():
			return
		}
	}
}

// rebuildAll receives the stored records and rebuilds the steps that they describe. If rebuilding
// fails, it stores the reason, which is shown on pages.
func (h *history) rebuildAll(ctx context.Context, before <-chan []trail.Record, state func(session string) (*gate.State, error)) {
	if before == nil {
		h.forget("older records are not kept")
		return
	}
	h.setReading(true)
	defer h.setReading(false)
	var records []trail.Record
	select {
	case records = <-before:
	case <-ctx.Done():
		return
	}
	fresh, err := state("")
	if err == nil {
		h.forget("older records do not contain it")
		err = h.rebuild(ctx, records, fresh)
	}
	if err != nil {
		h.forget("older records cannot be used: " + err.Error())
	}
}

// rebuild adds a step for each stored record. It turns a panic into an error, so that no record can
// crash the proxy.
func (h *history) rebuild(ctx context.Context, records []trail.Record, fresh *gate.State) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("a defect: %v", fault)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, rebuildTime)
	defer cancel()
	p, err := newRebuilder(fresh, h.durable)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(records, func(r trail.Record) bool { return bytes.Contains(r.Event, []byte(`"event":"removed"`)) }) {
		if err := p.restart("older records were removed (audit.keep)"); err != nil {
			return err
		}
	}
	for i := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := h.rebuildStep(p, &records[i], len(records)-i <= 2*maxUnread); err != nil {
			return err
		}
	}
	return nil
}

// rebuildStep replays a stored record, and adds a step if the record is about the nets of a
// session. If the state of these nets after the record is unknown, rebuildStep adds no step. If
// remember is true, it stores the ID of a record that has become a step, so that the record is
// skipped if the audit feed delivers it again. If the replay must start over, for example because
// records are missing, rebuildStep first drops all earlier steps.
func (h *history) rebuildStep(p *rebuilder, r *trail.Record, remember bool) error {
	e, err := r.Entry()
	if err != nil {
		h.forget("a record cannot be read")
		return p.restart("a record cannot be read")
	}
	forget, err := p.add(r, &e)
	if forget {
		h.forget(p.startReason)
	}
	if err != nil {
		return err
	}
	said := describe(&e)
	if said == "" || e.Session == "" {
		return nil
	}
	state, reason := p.state(&e)
	if reason != "" {
		h.skip(e.Session, reason, e.Time)
		return nil
	}
	if remember {
		h.known[recordID(r.Event)] = true
	}
	h.addStep(e.Session, &step{Time: e.Time, Said: []string{said}, Call: e.Call, policy: p.policy, past: state})
	return nil
}

// rebuildTime is the maximum duration of the replay of stored records.
const rebuildTime = 20 * time.Second
