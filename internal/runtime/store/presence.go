package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// processScope is the scope of each [backend.Part] that stores a process's heartbeat.
const processScope backend.Scope = "process"

// A process writes its heartbeat every beatInterval. If the heartbeat does not change for
// beatTimeout, the process is considered ended.
const (
	beatInterval = 10 * time.Second
	beatTimeout  = time.Minute
)

// presence tracks which processes use the database.
type presence struct {
	committer *committer

	mu   sync.Mutex
	own  *row
	last time.Time // time of this process's last heartbeat
	seen map[string]sighting
}

// sighting is the last heartbeat seen from a process.
type sighting struct {
	version int64
	at      time.Time // time when this process first saw this version of the heartbeat, by its own clock
	changed time.Time // time when the heartbeat last changed, by the database's clock
	names   bool      // whether the process stores its name with the calls that it admits
}

// live reports whether the process has written a heartbeat within the last beatTimeout.
func (s sighting) live() bool { return time.Since(s.changed) <= beatTimeout }

// heartbeat is the data that a process stores to show that it is running. Older versions of
// petrigate store only the time, as a number.
type heartbeat struct {
	Time  int64 `json:"time"`
	Names bool  `json:"names"`
}

// hasEnded reports whether the named process has ended, according to the heartbeats that
// [presence.endedProcesses] last read. Older versions of petrigate do not store the name of the
// process with a call. For an empty name, hasEnded therefore reports whether all processes of older
// versions have ended.
func (p *presence) hasEnded(process string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if process != "" {
		return !p.seen[process].live()
	}
	for _, s := range p.seen {
		if s.live() && !s.names {
			return false
		}
	}
	return true
}

// processes returns the names of the processes whose heartbeats were last read.
func (p *presence) processes() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := map[string]bool{}
	for name := range p.seen {
		known[name] = true
	}
	return known
}

// beat implements [Durable.Beat].
func (p *presence) beat(ctx context.Context) error {
	row, err := p.dueRow(ctx)
	if row == nil || err != nil {
		return err
	}
	data, _ := json.Marshal(heartbeat{Time: p.committer.now().Unix(), Names: true})
	err = p.committer.write(row, data).Wait(ctx)
	if err == nil {
		p.mu.Lock()
		p.last = time.Now()
		p.mu.Unlock()
	} else if !errors.Is(err, admission.ErrStale) {
		return err
	}
	ended, err := p.endedProcesses(ctx)
	if err != nil || len(ended) == 0 {
		return err
	}
	return p.removeEnded(ctx, ended)
}

// dueRow returns the row for this process's heartbeat, or nil if no heartbeat is due.
func (p *presence) dueRow(ctx context.Context) (*row, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() && time.Since(p.last) < beatInterval {
		return nil, nil
	}
	if p.own == nil || p.own.dropReason() != nil {
		id := backend.PartID{Scope: processScope, Name: p.committer.database.Writer()}
		versions, err := p.committer.database.Versions(ctx, id)
		if err != nil {
			return nil, err
		}
		p.own = newRow(&backend.Part{ID: id, Version: versions[0]})
	}
	return p.own, nil
}

// endedProcesses reads the heartbeats of all processes. It returns the heartbeats that have not
// changed for beatTimeout, except this process's own.
func (p *presence) endedProcesses(ctx context.Context) (ended []backend.Part, err error) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]sighting{}
	for part, err := range p.committer.database.List(ctx, processScope, "") {
		if err != nil {
			return nil, err
		}
		var n heartbeat
		_ = json.Unmarshal(part.Data, &n) // older versions store a number; ignore the error
		name, is := part.ID.Name, sighting{version: part.Version, at: now, changed: part.Changed, names: n.Names}
		if before, known := p.seen[name]; known && before.version == part.Version {
			is.at = before.at
		}
		if seen[name] = is; now.Sub(is.at) > beatTimeout && name != p.committer.database.Writer() {
			ended = append(ended, part)
		}
	}
	p.seen = seen
	return ended, nil
}

// removeEnded removes the heartbeats of ended processes. It also removes the sessions of these
// processes, except those with open calls.
func (p *presence) removeEnded(ctx context.Context, ended []backend.Part) error {
	known := p.processes()
	for _, e := range ended {
		delete(known, e.ID.Name)
	}
	remove := ended
	for s, err := range p.committer.database.List(ctx, backend.Session, "") {
		if err != nil {
			return err
		}
		if i, _, err := statecode.ReadOpen(s.ID.Name, s.Data); err == nil && i.Writer != "" && i.Open == 0 && !known[i.Writer] {
			s.Data = nil
			remove = append(remove, s)
		}
	}
	for some := range slices.Chunk(remove, maxBatch) {
		steps := make([]*queuedStep, len(some))
		for i := range some {
			steps[i] = p.committer.write(newRow(&some[i]), nil)
		}
		for _, s := range steps {
			if err := s.Wait(ctx); err != nil && !errors.Is(err, admission.ErrStale) {
				return err
			}
		}
	}
	return nil
}

// remove removes this process's heartbeat. From then on, the process counts as ended.
func (p *presence) remove(ctx context.Context) error {
	p.mu.Lock()
	row := p.own
	p.mu.Unlock()
	if row == nil || row.version == 0 {
		return nil
	}
	return p.committer.write(row, nil).Wait(ctx)
}

// admitterEnded reports whether the process that admitted a call has ended; see
// [presence.hasEnded].
func (p *presence) admitterEnded(process string) bool {
	return process != p.committer.database.Writer() && p.hasEnded(process)
}
