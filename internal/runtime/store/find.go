package store

import (
	"context"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// describe decodes the description of a stored session.
func (d *Durable) describe(p *backend.Part) (admission.SessionInfo, error) {
	i, calls, err := statecode.ReadOpen(p.ID.Name, p.Data)
	if err != nil {
		return admission.SessionInfo{}, err
	}
	s := admission.SessionInfo{
		Key: admission.Key{Session: p.ID.Name, Principal: i.Principal}, Since: i.Since, Lasting: i.Writer == "", Ended: i.Ended, Open: i.Open, Used: p.Changed,
	}
	if i.About != "" {
		s.About = []byte(i.About)
	}
	if i.Writer != "" && i.Writer != d.database.Writer() {
		s.Process, s.Gone = i.Writer, d.presence.hasEnded(i.Writer)
	}
	for _, c := range calls {
		s.Calls = append(s.Calls, admission.OpenCall{Number: c.Number, Tool: c.Tool, Since: c.Since, Unknown: c.Unknown || d.lost(c.Process), More: c.More})
	}
	return s, nil
}

// findStored reads the description of a session from the database.
func (d *Durable) findStored(ctx context.Context, session string) (admission.SessionInfo, error) {
	parts, err := d.database.Load(ctx, sessionID(session))
	if err != nil {
		return admission.SessionInfo{}, err
	}
	if parts[0].Version == 0 {
		return admission.SessionInfo{}, admission.ErrNoSession
	}
	return d.describe(&parts[0])
}

// entry returns the session from the cache, or loads its description from the database.
func (d *Durable) entry(ctx context.Context, k admission.Key) (*entry, error) {
	if e := d.lookup(k.Session); e != nil {
		return e, nil
	}
	info, err := d.findStored(ctx, k.Session)
	if err != nil {
		return nil, err
	}
	e, created := d.getOrCreate(info)
	if created {
		e.lockSession()
		defer e.unlockSession()
		e.new = false
	}
	return e, nil
}

func sessionID(name string) backend.PartID { return backend.PartID{Scope: backend.Session, Name: name} }
