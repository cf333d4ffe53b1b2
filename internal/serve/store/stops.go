package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Stops is the kill switch: of this process, or of all that share a database. What it knows
// of a database may be seconds old: a step that admits a call checks it again when it is
// committed.
type Stops struct {
	recorder *audit.Recorder // without a database
	database backend.Backend // nil: none

	mu    sync.RWMutex
	known []admission.Stop // the oldest first
}

var _ admission.Switch = (*Stops)(nil)

// NewStops returns a kill switch of this process, which is on record at the recorder.
func NewStops(recorder *audit.Recorder) *Stops { return &Stops{recorder: recorder} }

// SharedStops returns the kill switch of all that share a database. It is true to the
// database once [Stops.Refresh] was called.
func SharedStops(b backend.Backend) *Stops { return &Stops{database: b} }

// Stopped implements [admission.Switch].
func (s *Stops) Stopped(session string) *admission.Stop {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range s.known {
		if of := s.known[i].Session; of == "" || of == session {
			stop := s.known[i]
			return &stop
		}
	}
	return nil
}

// Stops implements [admission.Switch].
func (s *Stops) Stops(ctx context.Context) ([]admission.Stop, error) {
	if err := s.Refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.known), nil
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
		known = append(known, admission.Stop(stop))
	}
	slices.SortFunc(known, func(a, b admission.Stop) int { return a.Time.Compare(b.Time) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = known
	return nil
}

// Watch is [Stops.Refresh] for a [Watcher].
func (s *Stops) Watch(log *slog.Logger) func(context.Context) {
	return func(ctx context.Context) {
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			log.Debug("the kill switch cannot be read; calls are refused until it can be", "error", err)
		}
	}
}

// Set implements [admission.Switch].
func (s *Stops) Set(ctx context.Context, stop admission.Stop, on bool, e audit.Event) error {
	if s.database != nil {
		return s.setShared(ctx, stop, on, e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.recorder.Write(e); err != nil {
		return err
	}
	s.known = slices.DeleteFunc(s.known, func(known admission.Stop) bool { return known.Session == stop.Session })
	if on {
		s.known = append(s.known, stop)
	}
	return nil
}

func (s *Stops) setShared(ctx context.Context, stop admission.Stop, on bool, e audit.Event) error {
	object, err := json.Marshal(e)
	if err != nil {
		return err
	}
	event := backend.Event{Time: stop.Time, Session: stop.Session, Object: object}
	if err := s.database.SetStop(ctx, backend.Stop(stop), on, event); err != nil {
		return fmt.Errorf("using the kill switch: %w", err)
	}
	return s.Refresh(ctx)
}
