package admission

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/logkind"
)

// defaultMost is the default of [Tally].Most.
const defaultMost = 1000

// Would describes a refusal or an approval request that nets in shadow mode would have caused for
// one or more calls.
type Would struct {
	Tool     string    `json:"tool"`
	Decision string    `json:"decision"` // either "refuse" or "ask"
	Kind     string    `json:"kind"`
	Nets     []string  `json:"nets"`
	Rules    []string  `json:"rules"`
	Reason   string    `json:"reason"` // reason for the most recent refusal or approval request
	Count    int       `json:"count"`
	Last     time.Time `json:"last"`

	Arguments json.RawMessage `json:"arguments,omitempty"` // arguments of the most recent affected call, redacted as configured by audit.arguments; empty if too long
}

// Counts describes the calls that nets in shadow mode would have refused or would have allowed only
// with approval.
type Counts struct {
	Refused, Asked int     // how many calls would have been refused, and how many would have needed approval
	Would          []Would // the distinct refusals and approval requests, most frequent first
}

// counts holds a [Tally] for each session and one for all sessions. The zero value is empty and
// ready to use.
type counts struct {
	mu       sync.Mutex
	all      Tally // total over all sessions, including ended ones
	sessions map[string]*Tally
}

// A Tally counts the refusals and approval requests that nets in shadow mode would have caused. The
// zero value is empty and ready to use.
type Tally struct {
	Most int // maximum number of distinct refusals and approval requests to store; 0 means 1000. The totals include those that are not stored.

	refused, asked int
	answers        map[string]*Would // the distinct refusals and approval requests, keyed by tool, kind and nets
}

// add adds w to the counts of the session and to the total.
func (c *counts) add(session string, w Would) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions == nil {
		c.sessions = map[string]*Tally{}
	}
	if c.sessions[session] == nil {
		c.sessions[session] = &Tally{}
	}
	c.all.Add(w)
	c.sessions[session].Add(w)
}

// forget discards the counts of a session.
func (c *counts) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, session)
}

// Add counts one more occurrence of w, a refusal or an approval request. The reason and arguments
// of w replace those of the previous occurrence.
func (t *Tally) Add(w Would) {
	key := strings.Join(append([]string{w.Tool, w.Kind}, w.Nets...), "\x00")
	if w.Decision == "ask" {
		t.asked++
	} else {
		t.refused++
	}
	known := t.answers[key]
	if known == nil {
		if len(t.answers) >= cmp.Or(t.Most, defaultMost) {
			return
		}
		if t.answers == nil {
			t.answers = map[string]*Would{}
		}
		known = &Would{}
		t.answers[key] = known
	}
	w.Count = known.Count + 1
	*known = w
}

// Counts returns the counts of a session. If session is empty, it returns the counts for all
// sessions since the process started.
func (a *Admission) Counts(session string) Counts {
	c := &a.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.all
	if session != "" {
		t = cmp.Or(c.sessions[session], &Tally{})
	}
	return t.Counts()
}

// Counts returns the counts so far.
func (t *Tally) Counts() Counts {
	r := Counts{Refused: t.refused, Asked: t.asked, Would: []Would{}}
	for _, w := range t.answers {
		r.Would = append(r.Would, *w)
	}
	slices.SortFunc(r.Would, func(a, b Would) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Kind, b.Kind), slices.Compare(a.Nets, b.Nets))
	})
	return r
}

// countShadow logs and counts a refusal or an approval request that nets in shadow mode would have
// caused for an admitted call. The client is not told.
func (a *Admission) countShadow(c *Call, number uint64, r *gate.Refusal) {
	w := Would{
		Tool: c.Canonical, Decision: shadowDecision(r), Kind: string(r.Kind), Nets: []string{}, Rules: []string{},
		Reason: withoutQuotes(r.Text, r.Blocks), Last: c.Gate.Time, Arguments: a.Recent.Arguments(c.Key, number),
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, b.Net)
		if rule := a.records.where(b.Rule); rule != "" {
			w.Rules = append(w.Rules, rule)
		}
	}
	a.log.Info("the call passes in shadow mode", logkind.Shadowed, "would", w.Decision, "tool", w.Tool, "session", c.Session, "kind", w.Kind, "nets", w.Nets, "reason", w.Reason)
	a.counts.add(c.Session, w)
}
