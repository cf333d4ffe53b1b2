package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Lost finds on record the calls of a session that were admitted since a time, by processes
// that have ended meanwhile. It returns the process by the number of the call. Of those that
// are open still nobody but an operator says how they ended.
func (d *Durable) Lost(ctx context.Context, session string, since time.Time) (map[uint64]string, error) {
	lost := map[uint64]string{}
	q := backend.Query{Session: session, Since: since.Add(-backend.Skew)}
	for r, err := range d.database.Records(ctx, q) {
		if err != nil {
			return nil, err
		}
		if r.Session != session || r.Writer == d.database.Writer() || !d.presence.gone(r.Writer) {
			continue
		}
		var e struct {
			Event string `json:"event"`
			Call  uint64 `json:"call"`
		}
		if json.Unmarshal(r.Object, &e) == nil && e.Event == "decision" && e.Call != 0 {
			lost[e.Call] = r.Writer
		}
	}
	return lost, nil
}
