package proxy

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/proxy/internal/seal"
)

// A Database keeps the states of sessions, and what is stopped, outside of the process.
type Database = backend.Backend

// ledger makes the ledger and the kill switch: in the database of the options, or in
// the process where there is none.
func (p *Proxy) ledger() (admission.Ledger, admission.Switch, error) {
	o := p.options
	if o.Database == nil {
		recorder := audit.NewRecorder(o.Recorder, o.Now)
		return store.NewMemory(o.Policy, o.Active, p.approvals, recorder), store.NewStops(recorder), nil
	}
	durable, err := store.NewDurable(p.life.Ctx, store.DurableOptions{Backend: o.Database, Policy: o.Policy, Active: o.Active, Recorder: audit.NewRecorder(o.Recorder, o.Now), Logger: o.Logger, Now: o.Now})
	if err != nil {
		return nil, nil, err
	}
	stops := store.SharedStops(o.Database)
	p.durable, p.watcher = durable, store.NewWatcher(o.Database)
	p.watcher.On(stops.Watch(o.Logger))
	p.watcher.On(p.approvals.Refresh)
	return durable, stops, nil
}

// heartbeat is how often other processes are told that this one is there.
const heartbeat = 5 * time.Second

// keepState watches the database, tells others that this process is there, removes old records, and ends
// calls whose clients did not come back to any process.
func (p *Proxy) keepState() {
	if p.durable == nil {
		return
	}
	p.options.Pins.follow(p.watcher)
	p.life.Background(func() { p.watcher.Run(p.life.Ctx) })
	if keep := p.options.Keep; keep > 0 {
		p.life.Background(func() { store.NewRetention(p.durable, keep).Run(p.life.Ctx) })
	}
	p.life.Background(func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			if err := p.durable.Beat(p.life.Ctx); err != nil && p.life.Ctx.Err() == nil {
				p.life.Log.Debug("the state database was not told that this process is there", "error", err)
			}
			p.rounds.EndOld(p.life.Ctx)
			select {
			case <-tick.C:
			case <-p.life.Ctx.Done():
				return
			}
		}
	})
}

// farewell is how long the database is told that this process ends.
const farewell = 2 * time.Second

// Leave tells the database, after [Proxy.Close] and before it is closed itself, that this
// process has ended.
func (p *Proxy) Leave() error {
	if p.durable == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	return p.durable.Close(ctx)
}

// shared reports whether the states are kept where other processes have them too.
func (p *Proxy) shared() bool { return p.durable != nil }

// sealer seals what clients carry between two rounds of a call. All processes of a database
// have one key.
func (p *Proxy) sealer() *seal.Sealer {
	if p.durable == nil {
		return seal.New(nil, p.options.Now)
	}
	return seal.New(p.durable.RoundKey, p.options.Now)
}
