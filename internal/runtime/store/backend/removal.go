package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Removal is the content of the [Part] that tracks the removal of old records. Event is only a
// copy; the event itself is recorded in a chain.
type Removal struct {
	Time  time.Time       `json:"time"`            // when a process last looked for records to remove
	Event json.RawMessage `json:"event,omitempty"` // newest removal event, or nil before the first removal
}

// RemovalID identifies the [Part] that stores the [Removal].
var RemovalID = PartID{Scope: "removal"}

// ReadRemoval returns the [Removal], the removal event in decoded form, and the version of the
// [Part] that stores them. Before the first removal the event is empty. The version is 0 if the
// part does not exist.
func ReadRemoval(ctx context.Context, b Backend) (e *audit.Removed, r Removal, version int64, err error) {
	e = &audit.Removed{}
	parts, err := b.Load(ctx, RemovalID)
	if err != nil || parts[0].Version == 0 {
		return e, r, 0, err
	}
	if err = json.Unmarshal(parts[0].Data, &r); err == nil && r.Event != nil {
		err = json.Unmarshal(r.Event, e)
	}
	if err != nil {
		return e, r, 0, fmt.Errorf("reading the list of removed records: %w", err)
	}
	return e, r, parts[0].Version, nil
}
