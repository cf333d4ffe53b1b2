package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Stops is the kill switch: of this process, or of all that share a database. What it knows
// of a database may be seconds old: a step that admits a call checks it again when it is
// committed. A stop that the database does not take holds in this process, see [Stops.Watch].
type Stops struct {
	recorder *audit.Recorder // without a database
	database backend.Backend // nil: none

	turn sync.Mutex // held while the switch is used, and while what is held is written

	mu    sync.RWMutex
	known []admission.Stop // in the database, or, without one, all; the oldest first
	held  []held           // not in the database, as far as is known
}

// held is a stop that holds in this process alone.
type held struct {
	stop  backend.Stop
	event backend.Event
	tried bool // to write it: it is tried again
}

var _ admission.Switch = (*Stops)(nil)

// NewStops returns a kill switch of this process, which is on record at the recorder.
func NewStops(recorder *audit.Recorder) *Stops { return &Stops{recorder: recorder} }

// SharedStops returns the kill switch of all that share a database. It is true to the
// database once [Stops.Refresh] was called.
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

// all returns the stops that this process knows, the oldest first; nil: none.
func (s *Stops) all() []admission.Stop {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.held) == 0 {
		return s.known // a new slice for each change
	}
	all := slices.Clone(s.known)
	for _, h := range s.held {
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

// Refresh reads what is stopped from the database.
func (s *Stops) Refresh(ctx context.Context) error {
	if s.database == nil {
		return nil
	}
	stops, err := s.database.Stops(ctx)
	if err != nil {
		return fmt.Errorf("reading what is stopped: %w", err)
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

// Watch is for a [Watcher]: it writes the stops that the database has not taken yet, and
// reads what is stopped.
func (s *Stops) Watch(log *slog.Logger) func(context.Context) {
	return func(ctx context.Context) {
		s.writeHeld(ctx, log)
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			log.Debug("the kill switch cannot be read; calls are refused until it can be", "error", err)
		}
	}
}

// Set implements [admission.Switch].
func (s *Stops) Set(ctx context.Context, stop admission.Stop, on bool, e audit.Event) (admission.Switched, error) {
	if s.database == nil {
		return s.setAlone(stop, on, e)
	}
	object, err := json.Marshal(e)
	if err != nil {
		return admission.Switched{}, err
	}
	h := held{
		stop:  backend.Stop{Session: stop.Session, Actor: stop.Actor, Reason: stop.Reason, Time: stop.Time},
		event: backend.Event{Time: stop.Time, Session: stop.Session, Object: object},
	}
	var done admission.Switched
	if on {
		done = s.stop(ctx, h)
	} else if done, err = s.start(ctx, h); err != nil {
		return admission.Switched{}, fmt.Errorf("using the kill switch: %w", err)
	}
	done.Left = slices.Clone(s.all())
	return done, nil
}

// setAlone uses the switch of a process without a database. A stop holds also where it
// cannot be put on record; a stop does not end there.
func (s *Stops) setAlone(stop admission.Stop, on bool, e audit.Event) (done admission.Switched, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(known admission.Stop) bool { return known.Session == stop.Session }
	if done.Already = slices.ContainsFunc(s.known, same) == on; !done.Already {
		if err = s.recorder.Write(e); err != nil && !on {
			return done, err
		}
		s.known = slices.DeleteFunc(slices.Clone(s.known), same)
		if on {
			s.known = append(s.known, stop)
		}
	}
	done.Left, done.Alone = slices.Clone(s.known), err
	return done, nil
}

// stop holds a stop in this process at once, and then writes it to the database, which may
// take seconds, or fail.
func (s *Stops) stop(ctx context.Context, h held) (done admission.Switched) {
	was := s.hold(h)
	s.turn.Lock()
	defer s.turn.Unlock()
	err := s.Refresh(ctx)
	if err == nil && s.inDatabase(h.stop.Session) {
		s.release(h.stop.Session)
		return admission.Switched{Already: true}
	}
	if err == nil {
		err = s.write(ctx, h.stop.Session)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.held {
		s.held[i].tried = true
	}
	return admission.Switched{Already: was, Alone: err}
}

// start ends the stop of a session, or of all: that of this process, and that of the
// database. If the database does not answer, that of this process ends nevertheless.
func (s *Stops) start(ctx context.Context, h held) (done admission.Switched, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	failed := s.Refresh(ctx)
	own := s.release(h.stop.Session)
	known := s.inDatabase(h.stop.Session)
	if failed == nil && !known && own == nil {
		return admission.Switched{Already: true}, nil
	}
	if failed == nil {
		var events []backend.Event // that of the stop, where it was never written, comes before
		for _, h := range append(own, h) {
			events = append(events, h.event)
		}
		failed = s.database.SetStop(ctx, h.stop, false, events...)
	}
	switch {
	case failed == nil:
		s.learn(h.stop, false)
		return done, nil
	case own == nil || known:
		return done, failed
	}
	return admission.Switched{Alone: failed}, nil
}

// hold has a stop hold in this process, and reports whether one of the session did before.
func (s *Stops) hold(h held) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.held {
		if other.stop.Session == h.stop.Session {
			return true
		}
	}
	s.held = append(s.held, h)
	return false
}

// release ends the stop of a session that holds in this process alone; nil: none did.
func (s *Stops) release(session string) (own []held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = slices.DeleteFunc(s.held, func(h held) bool {
		if h.stop.Session == session {
			own = append(own, h)
		}
		return h.stop.Session == session
	})
	return own
}

// inDatabase reports whether the database had a stop of the session when it was read last.
func (s *Stops) inDatabase(session string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.known, func(known admission.Stop) bool { return known.Session == session })
}

// write writes the stop of a session that holds in this process to the database. The
// caller has the turn.
func (s *Stops) write(ctx context.Context, session string) error {
	s.mu.RLock()
	i := slices.IndexFunc(s.held, func(h held) bool { return h.stop.Session == session })
	if i < 0 {
		s.mu.RUnlock()
		return nil
	}
	h := s.held[i]
	s.mu.RUnlock()
	if err := s.database.SetStop(ctx, h.stop, true, h.event); err != nil {
		return err
	}
	s.learn(h.stop, true)
	s.release(session)
	return nil
}

// learn notes what the database has taken.
func (s *Stops) learn(stop backend.Stop, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = slices.DeleteFunc(slices.Clone(s.known), func(known admission.Stop) bool { return known.Session == stop.Session })
	if on {
		s.known = append(s.known, fromDatabase(stop))
	}
}

// writeHeld writes the stops that the database has not taken.
func (s *Stops) writeHeld(ctx context.Context, log *slog.Logger) {
	s.mu.RLock()
	waits := slices.ContainsFunc(s.held, func(h held) bool { return h.tried })
	s.mu.RUnlock()
	if !waits {
		return
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	for _, stop := range s.all() {
		if !stop.Alone {
			continue
		}
		if err := s.write(ctx, stop.Session); err != nil {
			log.Debug("a stop of this process cannot be written to the database yet", "session", stop.Session, "error", err)
			return
		}
		log.Warn("the database has taken the stop: it holds for all that use it", "session", stop.Session)
	}
}
