package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Stops is the kill switch of this process, or of all processes that share a database. A process
// may learn of a stop in the database some seconds late. Therefore, the database checks its stops
// again when it commits an admission. A stop that cannot be written to the database applies only to
// this process until a later attempt succeeds.
type Stops struct {
	recorder *audit.Recorder // records each use of the kill switch; nil if the database does so
	database backend.Backend // nil if the kill switch uses no database

	useMu sync.Mutex // serializes uses of the kill switch and writes of local stops

	mu    sync.RWMutex
	known []admission.Stop // stops in the database, or all stops if database is nil; oldest first
	local []localStop      // stops that are not known to be in the database
}

// localStop is a stop that applies only to this process.
type localStop struct {
	stop      backend.Stop
	event     backend.Event
	attempted bool // whether the first write to the database has failed and must be repeated
}

var _ admission.Switch = (*Stops)(nil)

// NewStops returns a kill switch for this process only. The recorder records its uses.
func NewStops(recorder *audit.Recorder) *Stops { return &Stops{recorder: recorder} }

// SharedStops returns the kill switch of all processes that share a database. [Stops.Refresh] must
// be called before the first use.
func SharedStops(b backend.Backend) *Stops { return &Stops{database: b} }

// Stopped implements [admission.Switch].
func (s *Stops) Stopped(session string) *admission.Stop {
	for _, stop := range s.all() {
		if stop.Session == "" || stop.Session == session {
			return &stop
		}
	}
	return nil
}

// all returns the stops that this process knows, oldest first. The caller must not modify the
// slice.
func (s *Stops) all() []admission.Stop {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.local) == 0 {
		return s.known // each change replaces this slice instead of modifying it
	}
	all := slices.Clone(s.known)
	for _, h := range s.local {
		stop := fromDatabase(h.stop)
		stop.Alone = true
		all = append(all, stop)
	}
	slices.SortStableFunc(all, func(a, b admission.Stop) int { return a.Time.Compare(b.Time) })
	return all
}

func fromDatabase(s backend.Stop) admission.Stop {
	return admission.Stop{Session: s.Session, Actor: s.Actor, Reason: s.Reason, Time: s.Time}
}

// Stops implements [admission.Switch].
func (s *Stops) Stops(ctx context.Context) ([]admission.Stop, error) {
	err := s.Refresh(ctx)
	return slices.Clone(s.all()), err
}

// Refresh reads the stops from the database.
func (s *Stops) Refresh(ctx context.Context) error {
	if s.database == nil {
		return nil
	}
	stops, err := s.database.Stops(ctx)
	if err != nil {
		return fmt.Errorf("reading the kill switch: %w", err)
	}
	known := make([]admission.Stop, 0, len(stops))
	for _, stop := range stops {
		known = append(known, fromDatabase(stop))
	}
	slices.SortFunc(known, func(a, b admission.Stop) int { return a.Time.Compare(b.Time) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = known
	return nil
}

// Watch returns a function for [Watcher.Register]. The function writes the stops that the database
// lacks, and then reads all stops.
func (s *Stops) Watch(log *slog.Logger) func(context.Context) {
	return func(ctx context.Context) {
		s.writeAllLocal(ctx, log)
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			log.Debug("cannot read the kill switch; petrigate refuses calls and retries", "error", err)
		}
	}
}

// Set implements [admission.Switch].
func (s *Stops) Set(ctx context.Context, stop admission.Stop, on bool, e audit.Event) (admission.Switched, error) {
	if s.database == nil {
		return s.setInProcess(stop, on, e)
	}
	object, err := json.Marshal(e)
	if err != nil {
		return admission.Switched{}, err
	}
	h := localStop{
		stop:  backend.Stop{Session: stop.Session, Actor: stop.Actor, Reason: stop.Reason, Time: stop.Time},
		event: backend.Event{Time: stop.Time, Session: stop.Session, Object: object},
	}
	var done admission.Switched
	if on {
		done = s.beginStop(ctx, h)
	} else if done, err = s.endStop(ctx, h); err != nil {
		return admission.Switched{}, fmt.Errorf("using the kill switch: %w", err)
	}
	done.Left = slices.Clone(s.all())
	return done, nil
}

// setInProcess implements [Stops.Set] for a process without a database. A stop takes effect even if
// it cannot be recorded, but it ends only if its end can be recorded.
func (s *Stops) setInProcess(stop admission.Stop, on bool, e audit.Event) (done admission.Switched, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done.Already = slices.ContainsFunc(s.known, isOf(stop.Session)) == on; !done.Already {
		if err = s.recorder.Write(e); err != nil && !on {
			return done, err
		}
		s.replaceKnown(stop, on)
	}
	done.Left, done.Alone = slices.Clone(s.known), err
	return done, nil
}

// beginStop applies a stop in this process immediately, and then writes it to the database. The
// write can take seconds or fail.
func (s *Stops) beginStop(ctx context.Context, h localStop) (done admission.Switched) {
	was := s.addLocal(h)
	s.useMu.Lock()
	defer s.useMu.Unlock()
	err := s.Refresh(ctx)
	if err == nil && s.inDatabase(h.stop.Session) {
		s.removeLocal(h.stop.Session)
		return admission.Switched{Already: true}
	}
	if err == nil {
		err = s.writeLocal(ctx, h.stop.Session)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.local {
		s.local[i].attempted = true
	}
	return admission.Switched{Already: was, Alone: err}
}

// endStop ends the stop of a session, or of all sessions, in this process and in the database. If
// the database does not answer, the stop still ends in this process.
func (s *Stops) endStop(ctx context.Context, h localStop) (done admission.Switched, err error) {
	s.useMu.Lock()
	defer s.useMu.Unlock()
	failed := s.Refresh(ctx)
	own := s.removeLocal(h.stop.Session)
	known := s.inDatabase(h.stop.Session)
	if failed == nil && !known && own == nil {
		return admission.Switched{Already: true}, nil
	}
	if failed == nil {
		// If the stop was never written to the database, record its beginning before its end.
		events := list.Map(append(own, h), func(h localStop) backend.Event { return h.event })
		failed = s.database.SetStop(ctx, h.stop, false, events...)
	}
	switch {
	case failed == nil:
		s.noteStored(h.stop, false)
		return done, nil
	case own == nil || known:
		return done, failed
	}
	return admission.Switched{Alone: failed}, nil
}

// addLocal adds a local stop unless its session already has one. It reports whether the session had
// one.
func (s *Stops) addLocal(h localStop) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was = slices.ContainsFunc(s.local, func(other localStop) bool { return other.stop.Session == h.stop.Session }); !was {
		s.local = append(s.local, h)
	}
	return was
}

// removeLocal removes and returns the session's local stops.
func (s *Stops) removeLocal(session string) (own []localStop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local = slices.DeleteFunc(s.local, func(h localStop) bool {
		if h.stop.Session == session {
			own = append(own, h)
		}
		return h.stop.Session == session
	})
	return own
}

// inDatabase reports whether the database had a stop for the session when the stops were last read.
func (s *Stops) inDatabase(session string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.known, isOf(session))
}

func isOf(session string) func(admission.Stop) bool {
	return func(s admission.Stop) bool { return s.Session == session }
}

// writeLocal writes the session's local stop, if any, to the database. The caller must hold useMu.
func (s *Stops) writeLocal(ctx context.Context, session string) error {
	s.mu.RLock()
	i := slices.IndexFunc(s.local, func(h localStop) bool { return h.stop.Session == session })
	if i < 0 {
		s.mu.RUnlock()
		return nil
	}
	h := s.local[i]
	s.mu.RUnlock()
	if err := s.database.SetStop(ctx, h.stop, true, h.event); err != nil {
		return err
	}
	s.noteStored(h.stop, true)
	s.removeLocal(session)
	return nil
}

// noteStored updates the known stops after the database has stored the beginning or the end of a
// stop.
func (s *Stops) noteStored(stop backend.Stop, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replaceKnown(fromDatabase(stop), on)
}

// replaceKnown stores a session's stop in s.known, or removes the stop if on is false. The caller
// must hold s.mu.
func (s *Stops) replaceKnown(stop admission.Stop, on bool) {
	s.known = slices.DeleteFunc(slices.Clone(s.known), isOf(stop.Session))
	if on {
		s.known = append(s.known, stop)
	}
}

// writeAllLocal tries again to write the local stops whose first write to the database failed.
func (s *Stops) writeAllLocal(ctx context.Context, log *slog.Logger) {
	s.mu.RLock()
	waits := slices.ContainsFunc(s.local, func(h localStop) bool { return h.attempted })
	s.mu.RUnlock()
	if !waits {
		return
	}
	s.useMu.Lock()
	defer s.useMu.Unlock()
	for _, stop := range s.all() {
		if !stop.Alone {
			continue
		}
		if err := s.writeLocal(ctx, stop.Session); err != nil {
			log.Debug("cannot write to the database yet that this process has stopped calls", "session", stop.Session, "error", err)
			return
		}
		log.Warn("the stop is in the database: it applies to all processes that use it", "session", stop.Session)
	}
}
