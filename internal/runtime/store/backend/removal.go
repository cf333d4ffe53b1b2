package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Removal is the part that says how far old records are removed. It is on no chain: what counts is the
// event on record, of which it has a copy.
type Removal struct {
	Time  time.Time       `json:"time"`            // when a process last looked for records to remove
	Event json.RawMessage `json:"event,omitempty"` // the newest event of a removal; nil: there was none
}

// RemovalID names the part of a [Removal].
var RemovalID = PartID{Scope: "removal"}

// ReadRemoval reads how far old records are removed, and the version of the part that says it.
func ReadRemoval(ctx context.Context, b Backend) (r Removal, version int64, err error) {
	parts, err := b.Load(ctx, RemovalID)
	if err != nil || parts[0].Version == 0 {
		return r, 0, err
	}
	if err := json.Unmarshal(parts[0].Data, &r); err != nil {
		return r, 0, fmt.Errorf("reading how far old records are removed: %w", err)
	}
	return r, parts[0].Version, nil
}
