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

// processes is the scope of the parts by which processes say that they are there.
const processes backend.Scope = "process"

// A process says so once in a beat, and has ended once it has not for a life.
const (
	beat = 10 * time.Second
	life = time.Minute
)

// presence is which processes use the database. The zero value knows of none.
type presence struct {
	mu    sync.Mutex
	own   *row
	last  time.Time // when this process said that it is there
	seen  map[string]pulse
	signs map[string]sign // by process
}

// sign is what the part of a process says about the process.
type sign struct {
	changed time.Time // by the clock of the database
	names   bool      // the process writes which process admitted each open call
}

// live reports whether the process wrote its part within a life.
func (s sign) live() bool { return time.Since(s.changed) <= life }

// note is the data of the part of a process. An older version writes the time alone.
type note struct {
	Time  int64 `json:"time"`
	Names bool  `json:"names"`
}

// pulse is when the part of a process was seen to change, by the clock of this one.
type pulse struct {
	version int64
	at      time.Time
}

// gone reports whether the process has ended, according to what [Durable.ended] read last. Without
// a name it is a process of an older version, which names no process with its calls: such a process
// has ended for certain once no process of an older version is left.
func (p *presence) gone(process string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if process != "" {
		s, there := p.signs[process]
		return !there || !s.live()
	}
	for _, s := range p.signs {
		if s.live() && !s.names {
			return false
		}
	}
	return true
}

// known are the processes that were seen last.
func (p *presence) known() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := map[string]bool{}
	for name := range p.seen {
		known[name] = true
	}
	return known
}

// Beat tells other processes that this one is there, and forgets sessions of those that
// have ended. It is to be called every few seconds.
func (d *Durable) Beat(ctx context.Context) error {
	row, err := d.presence.due(ctx, d.database)
	if row == nil || err != nil {
		return err
	}
	data, _ := json.Marshal(note{Time: d.now().Unix(), Names: true})
	w := backend.Write{ID: row.id, Version: row.version, Data: data}
	s := d.newQueued(&entry{}, nil)
	s.writes(row, w)
	err = d.enqueue(s).Wait(ctx)
	d.presence.beaten(err)
	if err != nil && !errors.Is(err, admission.ErrStale) {
		return err
	}
	ended, err := d.ended(ctx)
	if err != nil || len(ended) == 0 {
		return err
	}
	return d.sweep(ctx, ended)
}

// due returns the row by which this process is to say that it is there; nil: it is not time.
func (p *presence) due(ctx context.Context, b backend.Backend) (*row, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() && time.Since(p.last) < beat {
		return nil, nil
	}
	if p.own == nil || p.own.faulty() != nil {
		id := backend.PartID{Scope: processes, Name: b.Writer()}
		versions, err := b.Versions(ctx, id)
		if err != nil {
			return nil, err
		}
		p.own = newRow(&backend.Part{ID: id, Version: versions[0]})
	}
	return p.own, nil
}

func (p *presence) beaten(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.last = time.Now()
	}
}

// ended returns the processes that have not said for a life that they are there.
func (d *Durable) ended(ctx context.Context) (ended []backend.Part, err error) {
	p, now := &d.presence, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, signs := map[string]pulse{}, map[string]sign{}
	for part, err := range d.database.List(ctx, processes) {
		if err != nil {
			return nil, err
		}
		name := part.ID.Name
		is := pulse{part.Version, now}
		if before, known := p.seen[name]; known && before.version == part.Version {
			is.at = before.at
		}
		var n note
		_ = json.Unmarshal(part.Data, &n) // an older version's is a number
		if seen[name], signs[name] = is, (sign{part.Changed, n.Names}); now.Sub(is.at) > life && name != d.database.Writer() {
			ended = append(ended, part)
		}
	}
	p.seen, p.signs = seen, signs
	return ended, nil
}

// sweep removes the sessions of processes that have ended, but for those with open calls,
// and what is known of the processes.
func (d *Durable) sweep(ctx context.Context, ended []backend.Part) error {
	of := map[string]bool{}
	for _, p := range ended {
		of[p.ID.Name] = true
	}
	known := d.presence.known()
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
			steps[i].writes(newRow(&remove[i]), backend.Write{ID: remove[i].ID, Version: remove[i].Version})
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

// leave says that this process is not there any more. Its sessions are of one that ended.
func (d *Durable) leave(ctx context.Context) error {
	d.presence.mu.Lock()
	row := d.presence.own
	d.presence.mu.Unlock()
	if row == nil || row.version == 0 {
		return nil
	}
	s := d.newQueued(&entry{}, nil)
	s.writes(row, backend.Write{ID: row.id, Version: row.version})
	return d.enqueue(s).Wait(ctx)
}
