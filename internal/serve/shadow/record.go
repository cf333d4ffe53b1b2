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

// A summary is what the policy in shadow that was in force last would have done, by the
// record.
type summary struct {
	calls          int // that it decided
	refused, asked int
	would          []operator.WouldInfo // most often first
}

// Bounds of the rows that are counted apart, and of the arguments kept with each.
const (
	maxRows    = 200
	maxArguments = 64 << 10
)

// readRecord reads it from the audit log of a configuration, and tells progress of each record. The error wraps
// [daemon.ErrNoAuditLog] where there is none.
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
	return t.summary(), nil
}

// counter counts the decisions of a policy.
type counter struct {
	summary
	policy string
	kinds  map[string]*operator.WouldInfo
}

// add counts a decision. Those of another policy are forgotten.
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

// summary is what was counted.
func (t *counter) summary() summary {
	r := t.summary
	for _, w := range t.kinds {
		r.would = append(r.would, *w)
	}
	slices.SortFunc(r.would, func(a, b operator.WouldInfo) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Reason, b.Reason))
	})
	return r
}
