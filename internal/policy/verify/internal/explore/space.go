package explore

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Query is what a search looks for: a call that begins, or a state. A
// monitor is a number that goes along with the states.
type Query struct {
	Tag     func(*callclass.Class) uint8                                     // what it wants to know of calls
	Start   func(mon uint32, tag uint8, manual bool) (next uint32, hit bool) // a call is admitted; nil: the tag wanted
	Done    func(mon uint32, tag uint8) uint32                               // a call has succeeded
	Stay    func(mon uint32, tag uint8) (next uint32, may bool)              // whether an admitted call may be one that never ends, or nobody knows how; nil: none is
	state   func(s *Space, words []uint32) bool                              // a state is met
	lost    func(s *Space, mon uint32, open *openType) uint32                // the outcome of a call is unknown
	Sole    int                                                              // the net that alone refuses or asks, -1
	edges   bool                                                             // keep the graph
	Unasked bool                                                             // the call is admitted without a question
	Asks    func(*gate.Transition) bool                                      // which questions count; nil: all
	serial  bool                                                             // each call succeeds before the next begins
}

// asks reports whether a question that counts is asked before a call begins so.
func (q *Query) asks(n *Net, b *begun) bool {
	if !b.manual || q.Asks == nil {
		return b.manual
	}
	return slices.ContainsFunc(b.asks, func(t int) bool { return q.Asks(&n.Info.Transitions[t]) })
}

// Wanted is the bit of a tag that a hit needs where start is nil.
const Wanted = 1

// Succeeded is the bit of a tag of calls whose success a monitor waits for.
const Succeeded = 2

// An openType is a call in flight, as far as the nets of the view hold
// something of it. Calls of one type need not be told apart.
type openType struct {
	tag     uint8
	many    bool // nothing moved when it began, so there may be any number of them
	watches bool // no tokens are in flight for it
	stays   bool // it never ends, or nobody knows how
	holds   []callclass.Effect
}

// An event is one step of a run.
type event struct {
	kind eventKind
	arg  uint32 // class, or type of the call that ends
}

type eventKind uint8

const (
	starts eventKind = iota
	succeeds
	fails
	unknown
	stays // a call begins that never ends, or nobody knows how
)

var outcomes = [...]gate.Outcome{succeeds: gate.Success, fails: gate.Failure, unknown: gate.Unknown}

// A Space is the states that a view can reach over all outcomes and
// interleavings. A state is the monitor, the local states, the calls in flight.
type Space struct {
	*view
	q *Query
	tree[event]
	words []uint32
	At    []int // where states begin in words

	types callclass.Numbers[openType]

	edges    []edge
	hit      int32 // the state from which the query is met, -1
	hitBy    event
	atState  bool // the state itself meets it
	complete bool

	next []uint32 // room
	key  []byte
}

type edge struct {
	from, to int32
	by       event
}

// explore visits the states breadth first, until the query is met or the
// limit is reached.
func (v *view) explore(q *Query, limit int) *Space {
	s := &Space{view: v, q: q, hit: -1}
	s.visit(make([]uint32, 1+len(v.nets)), -1, event{})
	for k, asked := 0, -askEvery; k < len(s.At); k++ {
		if s.complete = len(s.At) <= limit && !v.model.due(&asked, len(s.At)); !s.complete {
			break
		}
		if s.q.state != nil && s.q.state(s, s.state(int32(k))) {
			s.hit, s.atState = int32(k), true
			break
		}
		if s.expand(int32(k)); s.hit >= 0 {
			break
		}
	}
	v.model.visited(v, len(s.At))
	return s
}

func (s *Space) state(k int32) []uint32 {
	end := len(s.words)
	if int(k)+1 < len(s.At) {
		end = s.At[k+1]
	}
	return s.words[s.At[k]:end]
}

// appendWords is how a state is looked up.
func appendWords(key []byte, words []uint32) []byte {
	for _, w := range words {
		key = binary.LittleEndian.AppendUint32(key, w)
	}
	return key
}

// visit adds a state unless it is there.
func (s *Space) visit(words []uint32, from int32, by event) {
	k := appendWords(s.key[:0], words)
	s.key = k
	id, fresh := s.add(k, from, by)
	if fresh {
		s.At = append(s.At, len(s.words))
		s.words = append(s.words, words...)
	}
	if s.q.edges && from >= 0 {
		s.edges = append(s.edges, edge{from, id, by})
	}
}

func (s *Space) expand(k int32) {
	if s.q.serial {
		s.expandSerial(k)
		return
	}
	for c := range s.classes {
		if s.begin(k, uint32(c)); s.hit >= 0 {
			return
		}
	}
	opens := s.opens(k)
	for i, o := range opens {
		if i > 0 && o == opens[i-1] {
			continue
		}
		for kind := succeeds; kind <= unknown; kind++ {
			if kind == unknown && !s.unclear(o) || kind != unknown && s.types.List[o].stays {
				continue
			}
			if s.end(k, o, kind); s.hit >= 0 {
				return
			}
		}
	}
}

func (s *Space) expandSerial(k int32) {
	for c := range s.classes {
		if s.admits(k, c) {
			s.visit(s.succeeded(k, uint32(c)), k, event{kind: starts, arg: uint32(c)})
		}
	}
}

func (s *Space) opens(k int32) []uint32 { return s.state(k)[1+len(s.nets):] }

// begin lets a call of the class begin, if all nets agree.
func (s *Space) begin(k int32, c uint32) {
	cl := &s.classes[c]
	words := s.state(k)
	manual, soleBlocks := false, false
	var questions []question // where a net is asked about
	for _, t := range cl.effects {
		b := s.nets[t.Net].begin(int(words[1+t.Net]), t.Meaning)
		sole := s.q.Sole == s.nets[t.Net].Index && !cl.member.Waits
		if b.verdict == blocks {
			if !sole {
				return
			}
			soleBlocks = true
			continue
		}
		manual = manual || s.q.asks(s.nets[t.Net], b)
		if s.q.Sole >= 0 && b.manual {
			questions = append(questions, s.nets[t.Net].questions(b)...)
		}
	}
	soleAsks, _ := asksMore(s.q.Sole, questions)
	mon, hit := words[0], false
	switch {
	case s.q.Sole >= 0 && (soleBlocks || soleAsks):
		hit = true
	case s.q.Start != nil:
		mon, hit = s.q.Start(mon, cl.tag, manual)
	default:
		hit = cl.tag&Wanted != 0 && s.q.Sole < 0
	}
	if hit {
		s.hit, s.hitBy = k, event{kind: starts, arg: c}
		return
	}
	s.started(k, event{kind: starts, arg: c}, mon)
	if s.q.Stay != nil {
		if mon, may := s.q.Stay(mon, cl.tag); may {
			s.started(k, event{kind: stays, arg: c}, mon)
		}
	}
}

// started is the state after the begin.
func (s *Space) started(k int32, by event, mon uint32) {
	c := by.arg
	cl := &s.classes[c]
	words := s.state(k)
	next := append(s.next[:0], words...)
	next[0] = mon
	open := openType{tag: cl.tag & Succeeded, stays: by.kind == stays}
	moved := false
	var killed []uint64 // by position; nil: none
	for _, t := range cl.effects {
		b := s.nets[t.Net].begin(int(words[1+t.Net]), t.Meaning)
		next[1+t.Net] = uint32(b.next)
		moved = moved || b.next != int(words[1+t.Net])
		if b.killed != 0 {
			if killed == nil {
				killed = make([]uint64, len(s.nets))
			}
			killed[t.Net] = b.killed
		}
		if b.hold > 0 {
			open.holds = append(open.holds, callclass.Effect{Net: t.Net, Meaning: b.hold})
		}
	}
	if killed != nil {
		next = append(next[:1+len(s.nets)], s.survivors(next[1+len(s.nets):], killed)...)
	}
	open.many = !moved && mon == words[0]
	s.reach(next, open, k, by)
}

// reach visits the state that has one more call in flight, if it holds something.
func (s *Space) reach(next []uint32, open openType, from int32, by event) {
	if len(open.holds) > 0 {
		next = append(next[:1+len(s.nets)], s.insert(next[1+len(s.nets):], s.typeOf(open))...)
	}
	s.clearSpoiled(next)
	s.next = next
	s.visit(next, from, by)
}

// spoils reports whether a call of the type spoils what some net watches.
func (s *Space) spoils(id uint32) bool {
	return slices.ContainsFunc(s.types.List[id].holds, func(h callclass.Effect) bool { return s.nets[h.Net].held.List[h.Meaning].spoils })
}

// clearSpoiled ends what spoils a net where no call in flight does.
func (s *Space) clearSpoiled(words []uint32) {
	for _, pos := range s.spoiling {
		spoils := func(id uint32) bool {
			return slices.ContainsFunc(s.types.List[id].holds, func(h callclass.Effect) bool {
				return h.Net == pos && s.nets[pos].held.List[h.Meaning].spoils
			})
		}
		if local := int(words[1+pos]); s.nets[pos].locals.List[local].spoiled && !slices.ContainsFunc(words[1+len(s.nets):], spoils) {
			words[1+pos] = uint32(s.nets[pos].unspoiled(local))
		}
	}
}

// maxAlike is how many calls are told apart that only watch; more of them are
// taken for any number.
const maxAlike = 2

// insert adds a call in flight, unless there are so many alike that it makes no
// difference.
func (s *Space) insert(opens []uint32, id uint32) []uint32 {
	i, alike := find(opens, id)
	if s.types.List[id].enough(alike) {
		return opens
	}
	return slices.Insert(opens, i, id)
}

// find is where calls of the type stand, and how many.
func find(opens []uint32, id uint32) (at, alike int) {
	at, _ = slices.BinarySearch(opens, id)
	for at+alike < len(opens) && opens[at+alike] == id {
		alike++
	}
	return at, alike
}

// enough reports whether so many calls of the type stand for one more.
func (t *openType) enough(alike int) bool {
	return t.watches && !t.stays && (t.many && alike > 0 || alike >= maxAlike)
}

// survivors are the calls in flight after watches have ended.
func (s *Space) survivors(opens []uint32, killed []uint64) []uint32 {
	var out []uint32
	for _, id := range opens {
		t := s.types.List[id]
		var holds []callclass.Effect
		changed := false
		for _, h := range t.holds {
			left := s.nets[h.Net].without(h.Meaning, killed[h.Net])
			changed = changed || left != h.Meaning
			if left > 0 {
				holds = append(holds, callclass.Effect{Net: h.Net, Meaning: left})
			}
		}
		switch {
		case !changed:
			out = s.insert(out, id)
		case len(holds) > 0:
			t.holds = holds
			out = s.insert(out, s.typeOf(t))
		}
	}
	return out
}

func (s *Space) typeOf(t openType) uint32 {
	t.watches = !slices.ContainsFunc(t.holds, func(h callclass.Effect) bool { return !s.nets[h.Net].tokenless(h.Meaning) })
	t.many = t.many && t.watches && !t.stays
	k := append(s.key[:0], t.tag)
	switch {
	case t.many:
		k = append(k, 1)
	case t.stays:
		k = append(k, 2)
	default:
		k = append(k, 0)
	}
	for _, h := range t.holds {
		k = callclass.AppendKey(k, []int{h.Net, h.Meaning})
	}
	s.key = k
	return uint32(s.types.Of(k, t))
}

// unclear reports whether an unknown outcome of the call makes a difference
// that a call which never ends, or fails, does not make.
func (s *Space) unclear(id uint32) bool {
	t := &s.types.List[id]
	flies := slices.ContainsFunc(t.holds, func(h callclass.Effect) bool {
		hold := &s.nets[h.Net].held.List[h.Meaning]
		return len(hold.flights) > 0 || hold.spoils
	})
	if !flies {
		return false // as a failure
	}
	for _, h := range t.holds {
		n := s.nets[h.Net]
		hold := n.held.List[h.Meaning]
		if len(hold.watches) > 0 || slices.ContainsFunc(hold.flights, func(t int) bool { return n.Info.Transitions[t].Release }) {
			return true
		}
	}
	return false
}

// end lets a call in flight end.
func (s *Space) end(k int32, id uint32, kind eventKind) {
	t := s.types.List[id]
	words := s.state(k)
	next := append(s.next[:0], words[:1+len(s.nets)]...)
	if kind == succeeds && s.q.Done != nil {
		next[0] = s.q.Done(next[0], t.tag)
	}
	if kind == unknown && s.q.lost != nil {
		next[0] = s.q.lost(s, next[0], &t)
	}
	killed := make([]uint64, len(s.nets))
	rest := openType{tag: t.tag, stays: t.stays}
	for _, h := range t.holds {
		e := s.nets[h.Net].end(int(next[1+h.Net]), h.Meaning, outcomes[kind])
		next[1+h.Net], killed[h.Net] = uint32(e.next), e.killed
		if e.hold > 0 {
			rest.holds = append(rest.holds, callclass.Effect{Net: h.Net, Meaning: e.hold})
		}
	}
	s.next = next
	by := event{kind: kind, arg: id}
	opens := s.opens(k)
	i, alike := find(opens, id)
	// Of any number of calls that watch, one that succeeds leaves as many. Of those
	// that spoil it can be the last.
	if kind == succeeds && t.enough(alike) {
		s.ended(k, opens, killed, rest, by)
	}
	if !(kind == succeeds && t.many && !s.spoils(id)) {
		s.ended(k, slices.Delete(slices.Clone(opens), i, i+1), killed, rest, by)
	}
}

func (s *Space) ended(k int32, opens []uint32, killed []uint64, rest openType, by event) {
	s.reach(append(s.next[:1+len(s.nets)], s.survivors(opens, killed)...), rest, k, by)
}

// A tree has the states of a search by number, and how each was first reached.
type tree[E any] struct {
	index map[string]int32
	from  []int32 // the state before; -1: none
	by    []E     // the step from there
}

// add is the number of the state that has the key, and whether it is a new one.
func (t *tree[E]) add(key []byte, from int32, by E) (k int32, fresh bool) {
	if k, ok := t.index[string(key)]; ok {
		return k, false
	}
	if t.index == nil {
		t.index = make(map[string]int32)
	}
	k = int32(len(t.from))
	t.index[string(key)] = k
	t.from, t.by = append(t.from, from), append(t.by, by)
	return k, true
}

// path is the steps that lead to a state.
func (t *tree[E]) path(k int32) []E {
	var out []E
	for ; t.from[k] >= 0; k = t.from[k] {
		out = append(out, t.by[k])
	}
	slices.Reverse(out)
	return out
}
