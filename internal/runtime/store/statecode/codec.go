package statecode

import (
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// printed is how many digits of a fingerprint are written: 128 bits.
const printed = 32

// A Codec writes and reads the states of one policy. It never changes.
type Codec struct {
	policy *gate.Policy
	active []string
	reset  []string
	start  *gate.State // read only
	print  string
	nets   []net
	byName map[string]int
}

// New returns the codec of the states of p in which the named nets are active, all if
// active is nil.
func New(p *gate.Policy, active []string) *Codec {
	c := &Codec{policy: p, active: active, start: p.NewState(active), print: p.Fingerprint()[:printed], byName: map[string]int{}}
	ids := p.IDs()
	for i, info := range p.Nets() {
		c.nets = append(c.nets, newNet(info, ids[i], c.start.Nets[i]))
		c.byName[info.Name] = i
	}
	return c
}

// Reset makes the codec read these nets as at their start where they were written under
// another policy and are otherwise. It is called before the codec is used.
func (c *Codec) Reset(nets []string) { c.reset = nets }

// Policy returns the policy of the states.
func (c *Codec) Policy() *gate.Policy { return c.policy }

// net has what is written of a net, ready to be appended.
type net struct {
	name        string
	scope       gate.Scope
	print       string   // see [gate.NetID]
	limit       string   // likewise
	row         string   // its name, before that of a value
	head        []byte   // its name and its fingerprint
	places      [][]byte // as keys
	transitions [][]byte // as values
	place       map[string]int
	transition  map[string]int
	timed       int
	shadow      bool
	start       *gate.NetData
	gone        bool // it stands for a net that is not there any more: it has any place, any transition
}

func newNet(info gate.NetInfo, id gate.NetID, start *gate.NetData) net {
	n := net{
		name: info.Name, scope: info.Scope, print: id.Print[:printed], limit: id.Limit, shadow: info.Shadow, start: start,
		place: map[string]int{}, transition: map[string]int{},
	}
	n.row = string(rawjson.AppendString(nil, n.name))
	n.head = append(rawjson.AppendString(nil, n.name), `:{"print":"`+n.print+`"`...)
	if info.Labels == nil {
		n.head = append(n.head, `,"hand":true`...)
	}
	if n.limit != "" {
		n.limit = n.limit[:printed/2]
		n.head = append(n.head, `,"limit":["`+n.limit+`","`+info.Fingerprint[:printed/2]+`"`...)
		for _, number := range numbers(&info.Net) {
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

// Info is what is kept of a session beside the state of its nets.
type Info struct {
	Principal string
	Since     time.Time
	Owner     uint64 // see [gate.State.Owners]; 0: it has none
	Writer    string // the process whose session it is; empty: of none, it outlives processes
	Ended     bool   // it is kept for its open calls
	Open      int    // calls; it is only read, see [ReadInfo]
	About     string // one JSON object; empty: none
}

// Row returns the name of the row for a value of the key of the net with that index.
func (c *Codec) Row(net int, key string) string { return c.nets[net].row + key }

// atStart reports whether there is nothing to be written of the net.
func (n *net) atStart(d *gate.NetData) bool {
	return d.Active == n.start.Active && d.Values.Len() == 0 && n.fresh(d) &&
		(d.Shadow == nil || d.Shadow.Refused+d.Shadow.Asked == 0 && n.fresh(d.Shadow.Enforced))
}

// fresh reports whether nothing has moved in d, whatever is in its shadow.
func (n *net) fresh(d *gate.NetData) bool {
	return !d.Stuck && len(d.Flights)+len(d.Watches)+len(d.Meta) == 0 && d.Spent == nil && d.Clock == nil &&
		d.Apart == nil && slices.Equal(d.Marking, n.start.Marking)
}
