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

// maxWould bounds how many different answers of nets in shadow are counted
// apart; of those beyond it only the number is kept.
const maxWould = 1000

// A Would is one answer that nets in shadow would have given to calls that
// passed, and how often.
type Would struct {
	Tool     string    `json:"tool"`
	Decision string    `json:"decision"` // refuse, or ask
	Kind     string    `json:"kind"`
	Nets     []string  `json:"nets"`
	Rules    []string  `json:"rules"`
	Reason   string    `json:"reason"` // of the last time
	Count    int       `json:"count"`
	Last     time.Time `json:"last"`

	Arguments json.RawMessage `json:"arguments,omitempty"` // of the last time, as audit.arguments records them, where they are short
}

// Counts is what nets in shadow would have refused or asked about.
type Counts struct {
	Refused, Asked int     // calls
	Would          []Would // most often first
}

// counts counts what nets in shadow would have said, in all and by session. The
// zero value is empty.
type counts struct {
	mu       sync.Mutex
	all      tally // also of sessions that have ended
	sessions map[string]*tally
}

// A tally is one of the counts. The zero value is empty.
type tally struct {
	refused, asked int
	answers        map[string]*Would // by tool, kind and nets
}

// add counts one answer.
func (c *counts) add(session string, w Would) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions == nil {
		c.sessions = map[string]*tally{}
	}
	if c.sessions[session] == nil {
		c.sessions[session] = &tally{}
	}
	c.all.add(w)
	c.sessions[session].add(w)
}

// forget drops what was counted in one session.
func (c *counts) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, session)
}

// add counts one answer. It keeps a copy.
func (t *tally) add(w Would) {
	key := strings.Join(append([]string{w.Tool, w.Kind}, w.Nets...), "\x00")
	if w.Decision == "ask" {
		t.asked++
	} else {
		t.refused++
	}
	known := t.answers[key]
	if known == nil {
		if len(t.answers) >= maxWould {
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

// Counts is what was counted in the session, or in all since the start where
// session is empty.
func (a *Admission) Counts(session string) Counts {
	c := &a.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.all
	if session != "" {
		t = cmp.Or(c.sessions[session], &tally{})
	}
	r := Counts{Refused: t.refused, Asked: t.asked, Would: []Would{}}
	for _, w := range t.answers {
		r.Would = append(r.Would, *w)
	}
	slices.SortFunc(r.Would, func(a, b Would) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Kind, b.Kind), slices.Compare(a.Nets, b.Nets))
	})
	return r
}

// wouldDecide is what the caller would have been told.
func wouldDecide(r *gate.Refusal) string {
	if r.Kind == gate.KindApproval {
		return "ask"
	}
	return "refuse"
}

// noteWould logs and counts what the nets in shadow say against a call that
// passes. Its caller is told nothing of it.
func (a *Admission) noteWould(c *Call, number uint64, r *gate.Refusal) {
	if r == nil {
		return
	}
	w := Would{
		Tool: c.Canonical, Decision: wouldDecide(r), Kind: string(r.Kind), Nets: []string{}, Rules: []string{},
		Reason: withoutQuotes(r.Text, r.Blocks), Last: c.Gate.Time, Arguments: a.Lately.Arguments(c.Key, number),
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, b.Net)
		if rule := a.where(b.Rule); rule != "" {
			w.Rules = append(w.Rules, rule)
		}
	}
	a.log.Info("in shadow: the call passes", logkind.Shadowed, "would", w.Decision, "tool", w.Tool, "session", c.Session, "kind", w.Kind, "nets", w.Nets, "reason", w.Reason)
	a.counts.add(c.Session, w)
}
