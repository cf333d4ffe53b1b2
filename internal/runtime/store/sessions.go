package store

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Open implements [admission.Ledger].
func (d *Durable) Open(ctx context.Context, s admission.SessionInfo) error {
	d.lockPolicy()
	d.getOrCreate(s)
	if d.unlockPolicy(); s.About == nil {
		return nil
	}
	return d.updateSession(ctx, s.Key, func(e *entry) (*queuedStep, error) {
		if e.row.version > 0 {
			return nil, nil
		}
		return d.stageWrite(e)
	})
}

// Touch implements [admission.Ledger].
func (d *Durable) Touch(ctx context.Context, k admission.Key, _ time.Time) error {
	return d.updateSession(ctx, k, func(e *entry) (*queuedStep, error) {
		if e.row.version == 0 || !e.info.Lasting {
			return nil, nil
		}
		return d.stageWrite(e)
	})
}

// End implements [admission.Ledger].
func (d *Durable) End(ctx context.Context, k admission.Key) error {
	return d.updateSession(ctx, k, func(e *entry) (*queuedStep, error) {
		if e.ended = true; e.row.version == 0 && e.ifFinished() != nil {
			return nil, nil
		}
		return d.stageWrite(e)
	})
}

// updateSession locks the session, calls f to queue a change, and waits for the commit. It retries
// as long as other processes change the session in the meantime.
func (d *Durable) updateSession(ctx context.Context, k admission.Key, f func(*entry) (*queuedStep, error)) error {
	for {
		s, err := d.withSession(ctx, k, f)
		if err == nil && s != nil {
			err = s.Wait(ctx)
		}
		if !errors.Is(err, admission.ErrStale) || ctx.Err() != nil {
			return err
		}
	}
}

// Find implements [admission.Ledger].
func (d *Durable) Find(ctx context.Context, session string) (admission.SessionInfo, error) {
	if e := d.lookup(session); e != nil {
		return d.currentInfo(ctx, e.sessionInfo().Key)
	}
	if _, err := d.presence.endedProcesses(ctx); err != nil {
		return admission.SessionInfo{}, err
	}
	return d.findStored(ctx, session)
}

// currentInfo returns the description of a cached session. Another process may have ended the
// session, so currentInfo checks that the cached session is up to date.
func (d *Durable) currentInfo(ctx context.Context, k admission.Key) (info admission.SessionInfo, err error) {
	err = d.inspectCurrent(ctx, k, func(e *entry) {
		info = e.info
		info.Ended = e.ended
	})
	return info, err
}

// Sessions implements [admission.Ledger].
func (d *Durable) Sessions(ctx context.Context) iter.Seq2[admission.SessionInfo, error] {
	return func(yield func(admission.SessionInfo, error) bool) {
		list, err := d.list(ctx)
		if err != nil {
			yield(admission.SessionInfo{}, err)
			return
		}
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// list returns the sessions in the database and those that exist only in this process.
func (d *Durable) list(ctx context.Context) (list []admission.SessionInfo, err error) {
	if _, err := d.presence.endedProcesses(ctx); err != nil {
		return nil, err
	}
	for p, err := range d.database.List(ctx, backend.Session, "") {
		if err != nil {
			return nil, err
		}
		s, err := d.describe(&p)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	list = d.appendMissing(list)
	slices.SortFunc(list, func(a, b admission.SessionInfo) int { return a.Since.Compare(b.Since) })
	return list, nil
}
