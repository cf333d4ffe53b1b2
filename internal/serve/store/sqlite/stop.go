package sqlite

import (
	"context"
	"fmt"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// SetStop uses the kill switch, or ends a stop.
func (b *Backend) SetStop(ctx context.Context, stop backend.Stop, on bool, events ...backend.Event) error {
	err := b.scribe.transact(ctx, true, func(tx *transaction) (bool, error) {
		var err error
		if on {
			_, err = tx.link.exec(`INSERT INTO stop (session, actor, reason, time) VALUES (?, ?, ?, ?)
ON CONFLICT (session) DO UPDATE SET actor = excluded.actor, reason = excluded.reason, time = excluded.time`,
				stop.Session, stop.Actor, stop.Reason, tx.at(stop.Time).UnixMicro())
			tx.stop = func(all map[string]bool) { all[stop.Session] = true }
		} else {
			_, err = tx.link.exec("DELETE FROM stop WHERE session = ?", stop.Session)
			tx.stop = func(all map[string]bool) { delete(all, stop.Session) }
		}
		if err == nil {
			err = tx.record(events)
		}
		if err == nil {
			err = tx.tell(tx.at(stop.Time).UnixMicro())
		}
		if err == nil {
			err = tx.attend()
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("writing to the state database: %w", err)
	}
	return nil
}

// Stops reads what is stopped.
func (b *Backend) Stops(context.Context) (all []backend.Stop, err error) {
	err = b.read(func(l *link) error {
		all = nil
		return l.rows("SELECT session, actor, reason, time FROM stop ORDER BY time, session", nil, func(scan func(...any) error) error {
			var s backend.Stop
			var at int64
			err := scan(&s.Session, &s.Actor, &s.Reason, &at)
			s.Time = micro(at)
			all = append(all, s)
			return err
		})
	})
	return all, err
}
