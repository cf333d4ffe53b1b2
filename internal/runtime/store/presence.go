package store

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// processScope is the scope of the parts that hold the heartbeats of processes.
const processScope backend.Scope = "process"

// A process writes its heartbeat every beatInterval, and counts as ended after beatTimeout without
// a heartbeat.
const (
	beatInterval = 10 * time.Second
	beatTimeout  = time.Minute
)

// presence tracks which processes use the database. The zero value knows no process.
type presence struct {
	mu     sync.Mutex
	own    *row
	last   time.Time // last heartbeat of this process
	seen   map[string]sighting
	status map[string]processStatus // by process
}

// processStatus is the content of the heartbeat of a process.
type processStatus struct {
	changed time.Time // by the clock of the database
	names   bool      // the process stores which process admitted each open call
}

// live reports whether the process wrote a heartbeat within beatTimeout.
func (s processStatus) live() bool { return time.Since(s.changed) <= beatTimeout }

// heartbeat is the data of the part of a process. An older version stores only the time.
type heartbeat struct {
	Time  int64 `json:"time"`
	Names bool  `json:"names"`
}

// sighting is the version of a heartbeat and when this process first saw it, by its own clock.
type sighting struct {
	version int64
	at      time.Time
}

// hasEnded reports whether the process has ended, according to the heartbeats that
// [Durable.endedProcesses] read last. An empty name means a process of an older version, which does
// not store its name with its calls. It has certainly ended if no process of an older version is
// live.
func (p *presence) hasEnded(process string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if process != "" {
		s, there := p.status[process]
		return !there || !s.live()
	}
	for _, s := range p.status {
		if s.live() && !s.names {
			return false
		}
	}
	return true
}

// processes returns the names of the processes whose heartbeats were read last.
func (p *presence) processes() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := map[string]bool{}
	for name := range p.seen {
		known[name] = true
	}
	return known
}

// Beat writes the heartbeat of this process and removes sessions of processes that have ended. The
// caller must call it every few seconds; it does nothing if no heartbeat is due.
func (d *Durable) Beat(ctx context.Context) error {
	row, err := d.presence.dueRow(ctx, d.database)
	if row == nil || err != nil {
		return err
	}
	data, _ := json.Marshal(heartbeat{Time: d.now().Unix(), Names: true})
	w := backend.Write{ID: row.id, Version: row.version, Data: data}
	s := d.newQueued(&entry{}, nil)
	s.addWrite(row, w)
	err = d.enqueue(s).Wait(ctx)
	d.presence.noteBeat(err)
	if err != nil && !errors.Is(err, admission.ErrStale) {
		return err
	}
	ended, err := d.endedProcesses(ctx)
	if err != nil || len(ended) == 0 {
		return err
	}
	return d.removeEnded(ctx, ended)
}

// dueRow returns the row of the heartbeat of this process if a heartbeat is due, else nil.
func (p *presence) dueRow(ctx context.Context, b backend.Backend) (*row, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() && time.Since(p.last) < beatInterval {
		return nil, nil
	}
	if p.own == nil || p.own.dropReason() != nil {
		id := backend.PartID{Scope: processScope, Name: b.Writer()}
		versions, err := b.Versions(ctx, id)
		if err != nil {
			return nil, err
		}
		p.own = newRow(&backend.Part{ID: id, Version: versions[0]})
	}
	return p.own, nil
}

func (p *presence) noteBeat(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.last = time.Now()
	}
}

// endedProcesses reads all heartbeats and returns those that have not changed for beatTimeout.
func (d *Durable) endedProcesses(ctx context.Context) (ended []backend.Part, err error) {
	p, now := &d.presence, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, signs := map[string]sighting{}, map[string]processStatus{}
	for part, err := range d.database.List(ctx, processScope) {
		if err != nil {
			return nil, err
		}
		name := part.ID.Name
		is := sighting{part.Version, now}
		if before, known := p.seen[name]; known && before.version == part.Version {
			is.at = before.at
		}
		var n heartbeat
		_ = json.Unmarshal(part.Data, &n) // an older version stores a number; the error does not matter
		if seen[name], signs[name] = is, (processStatus{part.Changed, n.Names}); now.Sub(is.at) > beatTimeout && name != d.database.Writer() {
			ended = append(ended, part)
		}
	}
	p.seen, p.status = seen, signs
	return ended, nil
}

// removeEnded removes the heartbeats of ended processes and their sessions, except sessions with
// open calls.
func (d *Durable) removeEnded(ctx context.Context, ended []backend.Part) error {
	of := map[string]bool{}
	for _, p := range ended {
		of[p.ID.Name] = true
	}
	known := d.presence.processes()
	remove := ended
	for p, err := range d.database.List(ctx, backend.Session) {
		if err != nil {
			return err
		}
		if i, err := statecode.ReadInfo(p.ID.Name, p.Data); err == nil && i.Writer != "" && i.Open == 0 && (of[i.Writer] || !known[i.Writer]) {
			p.Data = nil
			remove = append(remove, p)
		}
	}
	for len(remove) > 0 {
		n := min(len(remove), maxBatch)
		steps := make([]*queued, n)
		for i := range n {
			steps[i] = d.newQueued(&entry{}, nil)
			steps[i].addWrite(newRow(&remove[i]), backend.Write{ID: remove[i].ID, Version: remove[i].Version})
			d.enqueue(steps[i])
		}
		for _, s := range steps {
			if err := s.Wait(ctx); err != nil && !errors.Is(err, admission.ErrStale) {
				return err
			}
		}
		remove = remove[n:]
	}
	return nil
}

// removePresence removes the heartbeat of this process. Its sessions then belong to an ended
// process.
func (d *Durable) removePresence(ctx context.Context) error {
	d.presence.mu.Lock()
	row := d.presence.own
	d.presence.mu.Unlock()
	if row == nil || row.version == 0 {
		return nil
	}
	s := d.newQueued(&entry{}, nil)
	s.addWrite(row, backend.Write{ID: row.id, Version: row.version})
	return d.enqueue(s).Wait(ctx)
}
