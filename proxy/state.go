package proxy

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// ledger creates the ledger and the kill switch, either in the database from the options or,
// without a database, in memory.
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

// heartbeat is how often this process tells the others that it is still running.
const heartbeat = 5 * time.Second

// keepState starts the background work on the database: it watches the database, sends heartbeats,
// removes old records, and ends the calls of clients that have not returned to any process.
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
				p.life.Log.Debug("could not announce this process in the state database", "error", err)
			}
			p.rounds.EndOld(p.life.Ctx)
			if !wait.For(p.life.Ctx, tick.C) {
				return
			}
		}
	})
}

// leaveTimeout is the maximum time for telling the database that this process has ended.
const leaveTimeout = 2 * time.Second

// Leave tells the database that this process has ended. It must be called after [Proxy.Close] and
// before the database is closed.
func (p *Proxy) Leave() error {
	if p.durable == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return p.durable.Close(ctx)
}

// shared reports whether the states are in a database that other processes can share.
func (p *Proxy) shared() bool { return p.durable != nil }

// sealer returns the Sealer for the state that clients keep between two rounds of a call. All
// processes that share a database share its key.
func (p *Proxy) sealer() *seal.Sealer {
	var key seal.Key
	if p.durable != nil {
		key = p.durable.RoundKey
	}
	return seal.New(key, p.options.Now)
}
