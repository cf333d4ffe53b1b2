package admission

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// decisionEntry is a record with preallocated space for most decisions.
type decisionEntry struct {
	audit.Decision
	events [1]audit.Event
	names  [4]string
	nets   [4]audit.NetSays
}

// asEvents returns the record as the only event of a step.
func (r *decisionEntry) asEvents() []audit.Event {
	r.events[0] = &r.Decision
	return r.events[:]
}

// setNames sets the names of the call in the record.
func (r *decisionEntry) setNames(c *Call, names []gate.Name) {
	if len(names) > maxNames {
		names, r.Omitted = names[:maxNames], len(names)-maxNames
	}
	r.Names = slices.Grow(r.names[:0], len(names))
	for i, n := range names {
		name := audit.Bounded(n.Text)
		r.Names = append(r.Names, name)
		if !n.Certain {
			r.Uncertain = append(r.Uncertain, name)
		}
		if n.Weak {
			r.Weak = append(r.Weak, name)
		}
		own := n.Text == c.Gate.Tool || slices.ContainsFunc(c.Gate.Also, func(also gate.Name) bool { return also.Text == n.Text })
		if own && i > 0 {
			r.Own = i + 1
		}
	}
}

// Limits of what callers can write into one record.
const (
	maxNames  = 64
	maxReason = 4 << 10
)
