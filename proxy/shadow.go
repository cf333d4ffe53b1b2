package proxy

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
)

// maxWould bounds how many different answers of nets in shadow are counted
// apart; of those beyond it only the number is kept.
const maxWould = 1000

// A ShadowInfo says what the nets in shadow would have refused or asked about.
type ShadowInfo struct {
	Policy  bool        `json:"policy"`  // the whole policy is in shadow
	Refused int         `json:"refused"` // calls
	Asked   int         `json:"asked"`
	Would   []WouldInfo `json:"would"` // most often first
	Nets    []ShadowNet `json:"nets"`  // in shadow, of each session that is open
}

// A WouldInfo is one answer that nets in shadow would have given to calls that
// passed, and how often.
type WouldInfo struct {
	Tool     string    `json:"tool"`
	Decision string    `json:"decision"` // refuse, or ask
	Kind     string    `json:"kind"`
	Nets     []string  `json:"nets"`
	Rules    []string  `json:"rules"`
	Reason   string    `json:"reason"` // of the last time
	Count    int       `json:"count"`
	Last     time.Time `json:"last"`
}

// A ShadowNet is a net in shadow in one session.
type ShadowNet struct {
	Session string `json:"session"`
	Net     string `json:"net"`
	Actual  string `json:"actual"` // the marking that the calls led to, which is shown elsewhere
	NetShadow
}

// NetShadow is what a net in shadow has besides its marking.
type NetShadow struct {
	Enforced string `json:"enforced"` // the marking, had the nets in shadow blocked
	Parted   bool   `json:"parted"`   // that is another one
	Refused  int    `json:"refused"`  // calls that it would have refused
	Asked    int    `json:"asked"`    // calls about which it would have asked a person
}

// netShadow is what the report says of the net; nil if it is not in shadow.
func netShadow(r gate.ShadowReport, net string) *NetShadow {
	for _, n := range r.Nets {
		if n.Name == net {
			return &NetShadow{Enforced: n.Enforced.String(), Parted: n.Parted, Refused: n.Refused, Asked: n.Asked}
		}
	}
	return nil
}

// A tally counts what nets in shadow would have said. The zero value is empty.
type tally struct {
	mu      sync.Mutex
	refused int
	asked   int
	answers map[string]*WouldInfo // by tool, kind and nets
}

// add counts one answer. It keeps a copy.
func (c *tally) add(w WouldInfo) {
	key := strings.Join(append([]string{w.Tool, w.Kind}, w.Nets...), "\x00")
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.Decision == "ask" {
		c.asked++
	} else {
		c.refused++
	}
	known := c.answers[key]
	if known == nil {
		if len(c.answers) >= maxWould {
			return
		}
		if c.answers == nil {
			c.answers = map[string]*WouldInfo{}
		}
		known = &WouldInfo{}
		c.answers[key] = known
	}
	w.Count = known.Count + 1
	*known = w
}

// report is what was counted, without the nets.
func (c *tally) report() ShadowInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := ShadowInfo{Refused: c.refused, Asked: c.asked, Would: []WouldInfo{}, Nets: []ShadowNet{}}
	for _, w := range c.answers {
		r.Would = append(r.Would, *w)
	}
	slices.SortFunc(r.Would, func(a, b WouldInfo) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Kind, b.Kind), slices.Compare(a.Nets, b.Nets))
	})
	return r
}

// wouldDecide is what the client would have been told.
func wouldDecide(r *gate.Refusal) string {
	if r.Kind == gate.KindApproval {
		return "ask"
	}
	return "refuse"
}

// noteWould logs and counts what the nets in shadow say against a call that
// passes. Its client is told nothing of it.
func (p *Proxy) noteWould(t *toolCall, r *gate.Refusal) {
	if r == nil {
		return
	}
	w := WouldInfo{Tool: t.tool.canonical, Decision: wouldDecide(r), Kind: string(r.Kind), Nets: []string{}, Rules: []string{}, Reason: r.Text, Last: t.gate.Time}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, b.Net)
		if rule := p.where(b.Rule); rule != "" {
			w.Rules = append(w.Rules, rule)
		}
	}
	p.log.Info("in shadow: the call passes", "would", w.Decision, "tool", w.Tool, "session", t.client.session.id, "kind", w.Kind, "nets", w.Nets, "reason", w.Reason)
	p.shadowed.add(w)
	t.client.session.shadowed.add(w)
}

// would is what the nets in shadow say against the call, for the record.
func (p *Proxy) would(r *gate.Refusal) *audit.Would {
	if r == nil {
		return nil
	}
	w := &audit.Would{Decision: wouldDecide(r), Kind: string(r.Kind), Reason: r.Text}
	verdict := audit.VerdictName(gate.Blocked)
	if r.Kind == gate.KindApproval {
		verdict = audit.VerdictName(gate.Gated)
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, audit.NetSays{Net: b.Net, Verdict: verdict, Rule: p.where(b.Rule), Shadow: true})
	}
	return w
}

// Shadow reports on the nets in shadow: in one session, or in all since the
// proxy started where id is empty.
func (p *Proxy) Shadow(id string) (ShadowInfo, error) {
	counted, sessions := &p.shadowed, p.sessions.all()
	if id != "" {
		s, err := p.sessions.find(id)
		if err != nil {
			return ShadowInfo{}, err
		}
		counted, sessions = &s.shadowed, []*session{s}
	}
	r := counted.report()
	r.Policy = p.options.Policy.Shadow()
	for _, s := range sessions {
		s.gate.Tick(p.options.Now())
		report := s.gate.Shadow()
		for _, n := range report.Nets {
			if n.Active {
				r.Nets = append(r.Nets, ShadowNet{Session: s.id, Net: n.Name, Actual: n.Actual.String(), NetShadow: *netShadow(report, n.Name)})
			}
		}
	}
	return r, nil
}
