package store

import (
	"context"
	"log/slog"
	"slices"

	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

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
