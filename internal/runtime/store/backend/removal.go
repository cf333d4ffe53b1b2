package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Removal is the content of the part that tracks the removal of old records. The part is not on a
// chain; the removal event on record is authoritative, and the part has a copy of it.
type Removal struct {
	Time  time.Time       `json:"time"`            // when a process last looked for records to remove
	Event json.RawMessage `json:"event,omitempty"` // newest removal event; nil: none yet
}

// RemovalID names the part of a [Removal].
var RemovalID = PartID{Scope: "removal"}

// ReadRemoval reads the [Removal] and the version of its part; 0: the part does not exist.
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
