package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Removal is the content of the part that tracks the removal of old records. The part is not in a
// chain; it contains a copy of the recorded removal event, which is authoritative.
type Removal struct {
	Time  time.Time       `json:"time"`            // when a process last looked for records to remove
	Event json.RawMessage `json:"event,omitempty"` // newest removal event; nil: none yet
}

// RemovalID identifies the part of a [Removal].
var RemovalID = PartID{Scope: "removal"}

// ReadRemoval reads the [Removal], its decoded event, which is empty if there is none yet, and its
// part's version, which is 0 if the part does not exist.
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
		return e, r, 0, fmt.Errorf("reading which old records were removed: %w", err)
	}
	return e, r, parts[0].Version, nil
}
