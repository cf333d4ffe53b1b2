package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Removal is the content of the part that tracks the removal of old records. The part is not in a
// chain; it contains a copy of the recorded removal event, which is authoritative.
type Removal struct {
	Time  time.Time       `json:"time"`            // when a process last looked for records to remove
	Event json.RawMessage `json:"event,omitempty"` // newest removal event; nil: none yet
}

// RemovalID identifies the part of a [Removal].
var RemovalID = PartID{Scope: "removal"}

// ReadRemoval reads the [Removal] and its part's version, which is 0 if the part does not exist.
func ReadRemoval(ctx context.Context, b Backend) (r Removal, version int64, err error) {
	parts, err := b.Load(ctx, RemovalID)
	if err != nil || parts[0].Version == 0 {
		return r, 0, err
	}
	if err := json.Unmarshal(parts[0].Data, &r); err != nil {
		return r, 0, fmt.Errorf("reading which old records were removed: %w", err)
	}
	return r, parts[0].Version, nil
}
