package shadow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// Limits of a [counter]: the maximum number of different decisions, and the maximum size in bytes
// of the arguments stored for each of them.
const (
	maxRows      = 200
	maxArguments = 64 << 10
)

// readRecord reads the audit log and counts the decisions recorded since the policy last changed.
// It also counts the decisions that would have been different if the policy had been enforced. It
// calls progress with the number of records read so far. If no audit log is configured, the error
// wraps [daemon.ErrNoAuditLog].
func readRecord(ctx context.Context, c *config.Config, progress func(records int)) (t *counter, err error) {
	log, err := daemon.RecordsOf(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	t = newCounter("")
	records, filter := 0, &trail.Filter{Event: "decision"}
	for one, err := range log.Records(ctx, filter) {
		if err != nil {
			return nil, err
		}
		records++
		progress(records)
		if e, ok := filter.Select(&one); ok {
			t.add(&e)
		}
	}
	return t, nil
}

// A counter counts the decisions made under one policy. It also counts the decisions that would
// have been different if the policy had been enforced.
type counter struct {
	policy string
	calls  int // number of decisions
	would  admission.Tally
}

func newCounter(policy string) *counter {
	return &counter{policy: policy, would: admission.Tally{Most: maxRows}}
}

// add counts the decision e. If the policy has changed since the previous decision, add first
// resets the counts.
func (t *counter) add(e *trail.Entry) {
	if e.Policy != t.policy {
		*t = *newCounter(e.Policy)
	}
	t.calls++
	if e.Would == nil {
		return
	}
	w := operator.WouldInfo{Tool: e.Canonical(), Decision: e.Would.Decision, Kind: e.Would.Kind, Reason: e.Would.Reason, Nets: []string{}, Rules: []string{}, Last: e.Time}
	if len(e.Args) <= maxArguments {
		w.Arguments = bytes.Clone(e.Args)
	}
	for _, n := range e.Would.Nets {
		w.Nets = append(w.Nets, n.Net)
		if n.Rule != "" {
			w.Rules = append(w.Rules, n.Rule)
		}
	}
	t.would.Add(w)
}

// counts returns the decisions that the enforced policy would have made, most frequent first.
func (t *counter) counts() admission.Counts {
	r := t.would.Counts()
	slices.SortFunc(r.Would, func(a, b operator.WouldInfo) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Reason, b.Reason))
	})
	return r
}
