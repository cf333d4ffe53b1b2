package journal

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// view reads the checkpoint and the later changes in memory as one consistent state. It calls the
// first function with mu held; this function must copy the changes that the caller needs. It then
// calls the second function, which reads the checkpoint. If the checkpoint has moved past the
// copied changes in the meantime, view starts again. The caller need not hold the process lock.
func (b *Backend) view(see func(*image), f func(sqlite.Reading) error) error {
	for {
		b.lockImage()
		err := b.catchUp()
		if err == nil {
			see(&b.image)
		}
		at, folded := b.image.at.step, b.image.folded
		b.unlockImage()
		if err != nil {
			return err
		}
		again := false
		err = b.checkpoint.Read(func(r sqlite.Reading) error {
			place, err := b.checkedPlace(r, folded)
			if err != nil {
				return err
			}
			if again = place.Step > at; again {
				return nil
			}
			return f(r)
		})
		if err != nil || !again {
			return err
		}
	}
}

// catchUp reads the log up to its current end. The caller must hold mu.
func (b *Backend) catchUp() error {
	err := errClosed
	switch {
	case b.closed:
	case b.process.current.Load():
		return nil // no other process has appended anything
	default:
		err = b.follow(false)
	}
	if err != nil {
		return fmt.Errorf("reading the state log: %w", err)
	}
	return nil
}

// Load implements [backend.Backend].
func (b *Backend) Load(_ context.Context, ids ...backend.PartID) (parts []backend.Part, err error) {
	moved := make([]sqlite.Change, len(ids))
	parts = make([]backend.Part, len(ids))
	err = b.view(func(i *image) {
		for k, id := range ids {
			moved[k] = sqlite.Change{}
			if p := i.parts[id]; p != nil {
				moved[k] = p.snapshot(id)
			}
		}
	}, func(r sqlite.Reading) (err error) {
		for k, id := range ids {
			if parts[k], err = mergedPart(r, id, &moved[k]); err != nil {
				return err
			}
		}
		return nil
	})
	return parts, err
}

// mergedPart reads a [backend.Part] from the checkpoint and applies the given change to it. The
// zero change leaves the part unchanged.
func mergedPart(r sqlite.Reading, id backend.PartID, c *sqlite.Change) (p backend.Part, err error) {
	if c.ID == (backend.PartID{}) || !c.Cleared && c.Version > 0 {
		if p, err = r.Part(id); err != nil || c.ID == (backend.PartID{}) {
			return p, err
		}
	}
	if p.Data, err = c.Merged(p.Data); err != nil {
		return p, err
	}
	p.ID, p.Version, p.Changed = id, c.Version, c.Changed
	if p.Values == nil {
		p.Values = c.Values
	} else {
		maps.Copy(p.Values, c.Values)
	}
	maps.DeleteFunc(p.Values, func(_ string, data []byte) bool { return data == nil }) // nil marks a removed value
	return p, nil
}

// Versions implements [backend.Backend].
func (b *Backend) Versions(_ context.Context, ids ...backend.PartID) ([]int64, error) {
	versions := make([]int64, len(ids))
	unknown := false
	b.lockImage()
	err := b.catchUp()
	for k, id := range ids {
		v, ok := b.image.version(id)
		versions[k], unknown = v, unknown || !ok
	}
	b.unlockImage()
	if err != nil || !unknown {
		return versions, err
	}
	known := make([]bool, len(ids))
	err = b.view(func(i *image) {
		for k, id := range ids {
			versions[k], known[k] = i.version(id)
		}
	}, func(r sqlite.Reading) (err error) {
		for k, id := range ids {
			if known[k] {
				continue
			}
			if versions[k], err = r.Version(id); err != nil {
				return err
			}
		}
		return nil
	})
	return versions, err
}

// List implements [backend.Backend].
func (b *Backend) List(_ context.Context, scope backend.Scope, text string) iter.Seq2[backend.Part, error] {
	return func(yield func(backend.Part, error) bool) {
		var moved []sqlite.Change
		var all []backend.Part
		err := b.view(func(i *image) {
			moved = moved[:0]
			for id, p := range i.parts {
				if id.Scope == scope {
					moved = append(moved, sqlite.Change{Changes: slices.Clip(p.changes), Part: backend.Part{ID: id, Version: p.version, Data: p.data, Changed: p.changed}})
				}
			}
		}, func(r sqlite.Reading) (err error) {
			all, err = listParts(r, scope, text, moved)
			return err
		})
		if err != nil {
			yield(backend.Part{}, err)
			return
		}
		slices.SortFunc(all, func(a, b backend.Part) int {
			return cmp.Or(cmp.Compare(a.Changed.UnixMicro(), b.Changed.UnixMicro()), strings.Compare(a.ID.Name, b.ID.Name))
		})
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// listParts returns every [backend.Part] that has the given scope and whose data contains the given
// text. It reads the parts from the checkpoint and applies the given changes to them.
func listParts(r sqlite.Reading, scope backend.Scope, text string, moved []sqlite.Change) ([]backend.Part, error) {
	all, err := r.Parts(scope, text)
	if err != nil || len(moved) == 0 {
		return all, err
	}
	since := make(map[backend.PartID]bool, len(moved))
	for i := range moved {
		since[moved[i].ID] = true
	}
	all = slices.DeleteFunc(all, func(p backend.Part) bool { return since[p.ID] })
	for i := range moved {
		c := &moved[i]
		if c.Version == 0 {
			continue
		}
		var stored []byte
		if c.Data == nil {
			p, err := r.Part(c.ID)
			if err != nil {
				return nil, err
			}
			stored = p.Data
		}
		if c.Data, err = c.Merged(stored); err != nil {
			return nil, err
		}
		if strings.Contains(string(c.Data), text) {
			all = append(all, c.Part)
		}
	}
	return all, nil
}

// Heads implements [backend.Backend].
func (b *Backend) Heads(context.Context) (heads []backend.Record, err error) {
	var newer map[string]backend.Record
	var removed map[string]uint64
	err = b.view(func(i *image) {
		newer = map[string]backend.Record{}
		for writer, h := range i.heads {
			newer[writer] = h.record
		}
	}, func(r sqlite.Reading) (err error) {
		if removed, err = r.Removed(); err == nil {
			heads, err = r.Heads()
		}
		return err
	})
	maps.DeleteFunc(newer, func(writer string, r backend.Record) bool { return r.Seq <= removed[writer] })
	heads = slices.DeleteFunc(heads, func(r backend.Record) bool { _, ok := newer[r.Writer]; return ok })
	heads = slices.AppendSeq(heads, maps.Values(newer))
	slices.SortFunc(heads, func(a, b backend.Record) int { return strings.Compare(a.Writer, b.Writer) })
	return heads, err
}

// Stops implements [backend.Backend].
func (b *Backend) Stops(context.Context) ([]backend.Stop, error) {
	b.lockImage()
	defer b.unlockImage()
	if err := b.catchUp(); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(b.image.stops), func(a, b backend.Stop) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Session, b.Session))
	}), nil
}

// Approvals implements [backend.Backend].
func (b *Backend) Approvals(_ context.Context, id, key string, since time.Time) (all []backend.Approval, err error) {
	var used map[string]use
	err = b.view(func(i *image) { used = maps.Clone(i.used) }, func(r sqlite.Reading) (err error) {
		all, err = r.Approvals(id, key, since)
		return err
	})
	for k := range all {
		if _, ok := used[all[k].ID]; ok && all[k].State == backend.Approved {
			all[k].State = backend.Consumed
			all[k].Version++
		}
	}
	return slices.DeleteFunc(all, func(a backend.Approval) bool {
		u, ok := used[a.ID]
		return ok && id == "" && key == "" && u.at.Before(since)
	}), err
}
