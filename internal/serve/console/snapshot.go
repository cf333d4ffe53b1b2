package console

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A snapshot holds the state of a session's nets, either the current state or the state after an
// earlier step.
type snapshot struct {
	Here  *stepRow // the displayed step; nil if the current state is displayed
	Ended bool     // whether the session has ended; an ended session has no current state
	Gap   string   // why the final state of an ended session is unknown

	state   *gate.State // state for deciding on calls; nil if the displayed state was rebuilt from records
	policy  *gate.Policy
	nets    []gate.NetState
	unknown map[string]string // reasons why the states of nets are unknown, keyed by net name
	tools   []gate.Call
	steps   []stepRow // newest first
}

// A stepRow is a link to one earlier step.
type stepRow struct {
	step

	Link string
	Here bool
	Gap  string // why steps before this one are missing
}

// Rebuilt reports whether the state was rebuilt from records.
func (m *snapshot) Rebuilt() bool { return m.Here != nil && m.Here.state == nil }

// snapshotAt returns the snapshot of the step that the address selects. If it returns false, it has
// already written an error page.
func (c *Console) snapshotAt(w http.ResponseWriter, r *http.Request, at netsAddress) (m *snapshot, ok bool) {
	state, err := c.options.Proxy.State(at.Session)
	var steps []step
	gap := ""
	if at.Session != "" {
		steps, gap = c.history.stepsOf(at.Session)
	}
	m = &snapshot{}
	if err != nil && len(steps) > 0 {
		m.Ended, m.Gap = true, gap
		state, err = c.options.Proxy.State("")
	}
	if err != nil {
		c.fail(w, r, http.StatusNotFound, "The nets of this session cannot be shown: "+err.Error()+".")
		return nil, false
	}
	m.now(state)
	if at.Session == "" {
		return m, true
	}
	if m.Ended && at.At == "" {
		at.At = strconv.Itoa(steps[len(steps)-1].Number)
	}
	m.addSteps(steps, gap, at)
	if at.At != "" && m.Here == nil {
		c.fail(w, r, http.StatusNotFound, "This step is no longer kept.")
		return nil, false
	}
	if m.Here != nil {
		m.showStep(&m.Here.step)
	}
	return m, true
}

func (m *snapshot) now(s *gate.State) {
	m.state, m.policy, m.nets, m.tools = s, s.Policy(), s.Policy().NetsOf(s), s.Tools
}

// showStep changes the snapshot m to show the state after the step s.
func (m *snapshot) showStep(s *step) {
	if s.state != nil {
		tools := m.tools
		m.now(s.state)
		m.tools = tools
		return
	}
	m.state, m.policy, m.nets, m.unknown = nil, s.policy, s.past.Nets(), s.past.Unknown
}

// addSteps adds links to the given steps and, unless the session has ended, to the current state.
// If the address selects one of the steps, addSteps sets m.Here to it. The parameter gap explains
// why steps after the last given step are missing; it is empty if no steps are missing.
func (m *snapshot) addSteps(steps []step, gap string, at netsAddress) {
	now := at
	now.At, now.Why = "", ""
	if !m.Ended {
		m.steps = append(m.steps, stepRow{Link: now.link(), Here: at.At == "", Gap: gap})
	}
	for _, s := range slices.Backward(steps) {
		to := now
		to.At = strconv.Itoa(s.Number)
		row := stepRow{step: s, Link: to.link(), Here: at.At == to.At, Gap: s.Before}
		m.steps = append(m.steps, row)
		if row.Here {
			m.Here = &row
		}
	}
}

// stepsShown is the maximum number of steps on one page.
const stepsShown = 100

// pastRows holds one page of a session's list of steps, newest first.
type pastRows struct {
	Steps        []stepRow
	Newer, Older string    // URLs of the pages with newer and older steps; empty if those pages do not exist
	Since        time.Time // time of the first known step; zero if no steps are known
	Gap          string    // why steps before the first known step are missing
}

// stepsAround returns the page of steps that contains the displayed step. If the state of the given
// net after another step is unknown, stepsAround leaves that step out.
func (m *snapshot) stepsAround(net string) (p pastRows) {
	var rows []stepRow
	for _, s := range m.steps {
		why := ""
		if s.past != nil {
			why = s.past.Unknown[net]
		}
		if why == "" || s.Here {
			rows = append(rows, s)
		} else if n := len(rows); n > 0 && rows[n-1].Gap == "" {
			rows[n-1].Gap = why
		}
	}
	if len(rows) == 0 {
		return p
	}
	if last := rows[len(rows)-1]; last.Number > 0 {
		p.Since, p.Gap = last.Time, last.Gap
	} else {
		p.Gap = last.Gap
	}
	here := max(slices.IndexFunc(rows, func(s stepRow) bool { return s.Here }), 0)
	first := max(min(here-stepsShown/2, len(rows)-stepsShown), 0)
	end := min(first+stepsShown, len(rows))
	if first > 0 {
		p.Newer = rows[max(here-stepsShown, 0)].Link
	}
	if end < len(rows) {
		p.Older = rows[min(here+stepsShown, len(rows)-1)].Link
	}
	p.Steps = rows[first:end]
	return p
}

// valueID returns an ID for a value of a net's key. In a URL, the ID selects the net's marking for
// that value. It is derived from the value's hash, because a state rebuilt from records does not
// contain the value itself.
func (m *snapshot) valueID(v *gate.ValueState) string {
	hashes := list.Map(v.Key, func(k gate.KeyValue) string { return m.hash(k.Value) })
	h := hashOf(strings.Join(hashes, " "))
	return hex.EncodeToString(h[:8])
}

// hash returns the hash of a key value. If the state was rebuilt from records, the value is already
// a hash, encoded as a JSON string, and hash only decodes it.
func (m *snapshot) hash(value string) string {
	if m.state != nil {
		return audit.HashOf(value)
	}
	var hash string
	if json.Unmarshal([]byte(value), &hash) != nil {
		return value
	}
	return hash
}

// label returns a label for a value of a net's key, which selects one of the net's markings. If
// only the hash is known, its beginning takes the place of the value.
func (m *snapshot) label(v *gate.ValueState) string {
	if m.state != nil {
		return valueLabel(v)
	}
	short := *v
	short.Key = slices.Clone(v.Key)
	for i := range short.Key {
		h := m.hash(short.Key[i].Value)
		short.Key[i].Value = "#" + h[:min(len(h), 12)]
	}
	return valueLabel(&short)
}

// labels returns labels for the values of a net's key, keyed by value ID. A page that shows a
// rebuilt state needs them, because the rebuilt state contains only hashes. The labels come from
// the session's current state. The result is empty if the session has ended, if the policy has
// changed since the displayed state, or if the displayed state was not rebuilt.
func (c *Console) labels(m *snapshot, net int, session string) map[string]string {
	labels := map[string]string{}
	if m.state != nil || m.Ended {
		return labels
	}
	state, err := c.options.Proxy.State(session)
	if err != nil || state.Policy().Fingerprint() != m.policy.Fingerprint() {
		return labels
	}
	now := &snapshot{state: state}
	for _, v := range state.Policy().NetsOf(state)[net].Values {
		labels[now.valueID(&v)] = valueLabel(&v)
	}
	return labels
}
