package statecode

import (
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// fingerprintDigits is the length of stored fingerprints in hex digits. It corresponds to 128 bits.
const fingerprintDigits = 32

// Codec encodes and decodes the states of a policy. It is safe for concurrent use, except that
// Reset must be called before the codec is used.
type Codec struct {
	policy      *gate.Policy
	active      []string
	reset       []string
	start       *gate.State // initial state of the policy's nets; must not be modified
	fingerprint string
	nets        []net
	byName      map[string]int
}

// New returns a codec for states of the policy p. The nets named in active are active; if active is
// nil, all nets are.
func New(p *gate.Policy, active []string) *Codec {
	c := &Codec{policy: p, active: active, start: p.NewState(active), fingerprint: p.Fingerprint()[:fingerprintDigits], byName: map[string]int{}}
	ids := p.IDs()
	for i, info := range p.Nets() {
		c.nets = append(c.nets, newNet(info, ids[i], c.start.Nets[i]))
		c.byName[info.Name] = i
	}
	return c
}

// Reset sets the nets that lose their states in a change of policy. Such a net starts in its
// initial state if the codec decodes a part that was written under another policy or with other
// active nets. Reset must be called before the codec is used.
func (c *Codec) Reset(nets []string) { c.reset = nets }

// Policy returns the policy that the states belong to.
func (c *Codec) Policy() *gate.Policy { return c.policy }

// net holds precomputed pieces of a net's encoding.
type net struct {
	name        string
	scope       gate.Scope
	fingerprint string   // truncated fingerprint of the net; see [gate.NetID.Print]
	limit       string   // truncated fingerprint of the calls and callers that the net counts (see [gate.NetID.Limit]); empty unless the net is a limit from rules
	row         string   // encoded name, which is the prefix of the names of the net's value rows
	head        []byte   // encoded name and fingerprint
	places      [][]byte // place names, encoded as keys
	transitions [][]byte // transition names, encoded as values
	place       map[string]int
	transition  map[string]int
	timed       int
	shadow      bool
	start       *gate.NetData
	placeholder bool // whether the net is a placeholder for a stored net that the policy lacks; a placeholder accepts any place and any transition
}

func newNet(info gate.NetInfo, id gate.NetID, start *gate.NetData) net {
	n := net{
		name: info.Name, scope: info.Scope, fingerprint: id.Print[:fingerprintDigits], limit: id.Limit, shadow: info.Shadow, start: start,
		place: map[string]int{}, transition: map[string]int{},
	}
	n.row = string(rawjson.AppendString(nil, n.name))
	n.head = append(rawjson.AppendString(nil, n.name), `:{"print":"`+n.fingerprint+`"`...)
	if info.Labels == nil {
		n.head = append(n.head, `,"hand":true`...)
	}
	if n.limit != "" {
		n.limit = n.limit[:fingerprintDigits/2]
		n.head = append(n.head, `,"limit":["`+n.limit+`","`+info.Fingerprint[:fingerprintDigits/2]+`"`...)
		for _, number := range limitNumbers(&info.Net) {
			n.head = strconv.AppendInt(append(n.head, ','), number, 10)
		}
		n.head = append(n.head, ']')
	}
	for i, p := range info.Places {
		n.place[p] = i
		n.places = append(n.places, append(rawjson.AppendString(nil, p), ':'))
	}
	for i := range info.Transitions {
		t := &info.Transitions[i]
		n.transition[t.Name] = i
		n.transitions = append(n.transitions, rawjson.AppendString(nil, t.Name))
		if t.Every > 0 {
			n.timed++
		}
	}
	return n
}

// Info holds the facts about a session that are stored along with its nets' states.
type Info struct {
	Principal string
	Since     time.Time
	Owner     uint64 // number that identifies the session in shared parts of the state; 0 if unknown; see [gate.State.Owners]
	Writer    string // process that owns the session; empty if the session can continue after the process ends
	Ended     bool   // whether the session has ended and is kept only for its open calls
	Open      int    // number of open calls; set when decoding, but not written
	About     string // description of the session as a JSON object, or empty
}

// RowName returns the name of the row that stores a net's state for one value of its key.
func (c *Codec) RowName(net int, key string) string { return c.nets[net].row + key }

// atStart reports whether the net is in its initial state. This state is not written.
func (n *net) atStart(d *gate.NetData) bool {
	return d.Active == n.start.Active && d.Values.Len() == 0 && n.unmoved(d) &&
		(d.Shadow == nil || d.Shadow.Refused+d.Shadow.Asked == 0 && n.unmoved(d.Shadow.Enforced))
}

// unmoved reports whether the net's state d equals its initial state, ignoring the fields Active,
// Values and Shadow.
func (n *net) unmoved(d *gate.NetData) bool {
	return !d.Stuck && len(d.Flights)+len(d.Watches)+len(d.Meta) == 0 && d.Spent == nil && d.Clock == nil &&
		d.Extras == nil && slices.Equal(d.Marking, n.start.Marking)
}

// limitNumbers returns the numbers in a limit. If a user changes only these numbers, the limit
// still counts the same calls. The numbers are the initial tokens, the clock intervals, and the
// maximum and the interval of the sum.
func limitNumbers(n *gate.Net) (all []int64) {
	for _, place := range n.Places {
		all = append(all, int64(n.Initial[place]))
	}
	for i := range n.Transitions {
		all = append(all, int64(n.Transitions[i].Every))
	}
	if n.Sum != nil {
		all = append(all, int64(n.Sum.Most), int64(n.Sum.Every))
	}
	return all
}
