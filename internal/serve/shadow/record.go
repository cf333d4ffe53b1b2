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
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// A summary counts, according to the audit log, what the most recent policy in shadow mode would
// have done.
type summary struct {
	calls          int // number of calls that were decided
	refused, asked int
	would          []operator.WouldInfo // counts of refusals and approvals, most frequent first
}

// Limits for the number of rows, and for the size of the arguments that are kept for each row.
const (
	maxRows      = 200
	maxArguments = 64 << 10
)

// readRecord summarizes the configuration's audit log. It calls progress with the number of records
// read so far. If the configuration has no log, the error wraps [daemon.ErrNoAuditLog].
func readRecord(ctx context.Context, c *config.Config, progress func(records int)) (r summary, err error) {
	log, err := daemon.RecordsOf(ctx, c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	t := counter{kinds: map[string]*operator.WouldInfo{}}
	records, filter := 0, &trail.Filter{Event: "decision"}
	for one, err := range log.Records(ctx, filter) {
		if err != nil {
			return r, err
		}
		records++
		progress(records)
		if e, ok := filter.Select(&one); ok {
			t.add(&e)
		}
	}
	return t.result(), nil
}

// A counter counts the decisions made under a policy.
type counter struct {
	summary
	policy string
	kinds  map[string]*operator.WouldInfo
}

// add counts a decision. If the decision was made under a new policy, add drops the earlier counts.
func (t *counter) add(e *trail.Entry) {
	if e.Policy != t.policy {
		t.policy, t.summary = e.Policy, summary{}
		clear(t.kinds)
	}
	t.calls++
	if e.Would == nil {
		return
	}
	tool := e.Canonical()
	w := operator.WouldInfo{Tool: tool, Decision: e.Would.Decision, Reason: e.Would.Reason, Nets: []string{}, Rules: []string{}, Last: e.Time}
	if len(e.Args) <= maxArguments {
		w.Arguments = bytes.Clone(e.Args)
	}
	if w.Decision == "ask" {
		t.asked++
	} else {
		t.refused++
	}
	for _, n := range e.Would.Nets {
		w.Nets = append(w.Nets, n.Net)
		if n.Rule != "" {
			w.Rules = append(w.Rules, n.Rule)
		}
	}
	key := strings.Join(append([]string{tool, e.Would.Kind}, w.Nets...), "\x00")
	known := t.kinds[key]
	if known == nil {
		if len(t.kinds) >= maxRows {
			return
		}
		known = &operator.WouldInfo{}
		t.kinds[key] = known
	}
	w.Count = known.Count + 1
	*known = w
}

// result returns the counts.
func (t *counter) result() summary {
	r := t.summary
	for _, w := range t.kinds {
		r.would = append(r.would, *w)
	}
	slices.SortFunc(r.would, func(a, b operator.WouldInfo) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Reason, b.Reason))
	})
	return r
}
