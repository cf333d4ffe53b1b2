package explore

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Query describes what a search looks for: the beginning of a call, or a state. Its monitor is a
// small automaton whose current state is part of each product state.
type Query struct {
	Tag     func(*callclass.Class) uint8                                     // returns the tag of a class: bits that classify its calls for the monitor
	Start   func(mon uint32, tag uint8, manual bool) (next uint32, hit bool) // returns the monitor's next state when a call is admitted, and whether this meets the query; if nil, a call tagged as [Wanted] meets it
	Done    func(mon uint32, tag uint8) uint32                               // returns the monitor's next state when a call has succeeded
	Stay    func(mon uint32, tag uint8) (next uint32, may bool)              // reports whether an admitted call can stay in flight forever, or end without being observed; if nil, no call can
	state   func(s *Space, words []uint32) bool                              // reports whether a state meets the query
	lost    func(s *Space, mon uint32, open *openType) uint32                // returns the monitor's next state when the outcome of a call is unknown
	Sole    int                                                              // index of the net that alone must refuse the call or require approval for it; -1 if the query is not about such a net
	edges   bool                                                             // whether to record the edges of the state graph
	Unasked bool                                                             // whether the query is about a call that is admitted without approval
	Asks    func(*gate.Transition) bool                                      // selects the approvals that count; nil means all
	serial  bool                                                             // whether each call succeeds before the next begins
}

// asks reports whether net n requires an approval that counts for q before it admits the call
// described by b.
func (q *Query) asks(n *Net, b *callStart) bool {
	if !b.manual || q.Asks == nil {
		return b.manual
	}
	return slices.ContainsFunc(b.asks, func(t int) bool { return q.Asks(&n.Info.Transitions[t]) })
}

// Wanted is the tag bit of calls that meet the query if Query.Start is nil.
const Wanted = 1

// Succeeded is the tag bit of calls whose success the monitor waits for.
const Succeeded = 2

// An openType describes interchangeable calls in flight. They have the same [holding] in each of
// the view's nets, and the query's monitor waits for the success of either all or none of them.
type openType struct {
	tag     uint8
	many    bool // whether any number of such calls can be in flight, because the beginning of one changes no state
	watches bool // whether the nets keep all their tokens while the call is in flight
	stays   bool // whether the call never ends, or its end is not observed
	holds   []callclass.Effect
}

// An event is a step of a run.
type event struct {
	kind eventKind
	arg  uint32 // the class of the call if it begins, or its type if it ends
}

type eventKind uint8

const (
	starts eventKind = iota
	succeeds
	fails
	unknown
	stays // the start of a call that never ends, or whose end is not observed
)

var outcomes = [...]gate.Outcome{succeeds: gate.Success, fails: gate.Failure, unknown: gate.Unknown}

// A Space holds the product states that a view (the model restricted to some nets) can reach over
// all outcomes and interleavings. A state is stored as a sequence of words: the state of the
// query's monitor, the index of each net's local state, and the sorted indexes of the types (see
// openType) of the calls in flight.
type Space struct {
	openTypeTable
	q *Query
	tree[event]
	words []uint32
	At    []int // for each state, the index of its first word in words

	edges    []edge
	hit      int32 // last state before the query was met; -1 if it was not met
	hitBy    event
	atState  bool // whether the query is met by the state itself rather than by a call
	complete bool

	next []uint32 // a buffer for temporary data
}

// An openTypeTable assigns indexes to the types of the view's calls in flight.
type openTypeTable struct {
	*view
	types callclass.Numbers[openType]
	key   []byte // a buffer for temporary data
}

type edge struct {
	from, to int32
	by       event
}

// explore visits the states in breadth-first order until the query is met or the limit is reached.
func (v *view) explore(q *Query, limit int) *Space {
	s := &Space{openTypeTable: openTypeTable{view: v}, q: q, hit: -1}
	s.visit(make([]uint32, 1+len(v.nets)), -1, event{})
	for k, asked := 0, -askEvery; k < len(s.At); k++ {
		if s.complete = len(s.At) <= limit && !v.model.mustStop(&asked, len(s.At)); !s.complete {
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

// appendWords appends the words of a state to key.
func appendWords(key []byte, words []uint32) []byte {
	for _, w := range words {
		key = binary.LittleEndian.AppendUint32(key, w)
	}
	return key
}

// visit adds a state unless it is already known. It also records the edge to the state if the query
// requires edges.
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
			s.visit(s.stateAfter(k, uint32(c)), k, event{kind: starts, arg: uint32(c)})
		}
	}
}

func (s *Space) opens(k int32) []uint32 { return s.state(k)[1+len(s.nets):] }

// begin visits the states that follow when a call of class c begins, if all nets admit the call.
func (s *Space) begin(k int32, c uint32) {
	cl := &s.classes[c]
	words := s.state(k)
	manual, soleBlocks := false, false
	var questions []question // approvals that nets request; collected only if Query.Sole is a net
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
	s.visitStart(k, event{kind: starts, arg: c}, mon)
	if s.q.Stay != nil {
		if mon, may := s.q.Stay(mon, cl.tag); may {
			s.visitStart(k, event{kind: stays, arg: c}, mon)
		}
	}
}

// visitStart visits the state that follows when the call described by the event begins. mon is the
// monitor's new state.
func (s *Space) visitStart(k int32, by event, mon uint32) {
	c := by.arg
	cl := &s.classes[c]
	words := s.state(k)
	next := append(s.next[:0], words...)
	next[0] = mon
	open := openType{tag: cl.tag & Succeeded, stays: by.kind == stays}
	moved := false
	var killed []uint64 // for each net, by position, the set of observers that stop waiting; nil if all observers keep waiting
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

// reach visits the state in words after adding a call of type t to the calls in flight. It does not
// add a call that can no longer affect a net.
func (s *Space) reach(words []uint32, t openType, from int32, by event) {
	if len(t.holds) > 0 {
		words = append(words[:1+len(s.nets)], s.insert(words[1+len(s.nets):], s.typeOf(t))...)
	}
	s.clearSpoiled(words)
	s.next = words
	s.visit(words, from, by)
}

// spoils reports whether calls of type id keep other calls from counting toward requirements in
// some net (see [gate.Transition.Spoils]).
func (o *openTypeTable) spoils(id uint32) bool {
	return slices.ContainsFunc(o.types.List[id].holds, func(h callclass.Effect) bool { return o.nets[h.Net].held.List[h.Meaning].spoils })
}

// clearSpoiled clears localState.spoiled for each net where no call in flight keeps other calls
// from counting toward requirements.
func (o *openTypeTable) clearSpoiled(words []uint32) {
	for _, pos := range o.spoiling {
		spoils := func(id uint32) bool {
			return slices.ContainsFunc(o.types.List[id].holds, func(h callclass.Effect) bool {
				return h.Net == pos && o.nets[pos].held.List[h.Meaning].spoils
			})
		}
		if local := int(words[1+pos]); o.nets[pos].locals.List[local].spoiled && !slices.ContainsFunc(words[1+len(o.nets):], spoils) {
			words[1+pos] = uint32(o.nets[pos].unspoil(local))
		}
	}
}

// maxAlike is the maximum number of identical calls that a state lists if these calls have no
// tokens in flight. A count of maxAlike stands for any larger number of such calls; smaller counts
// are exact.
const maxAlike = 2

// insert adds a call of type id to opens, the sorted types of the calls in flight. If opens already
// represents any number of calls of this type, insert returns opens unchanged.
func (o *openTypeTable) insert(opens []uint32, id uint32) []uint32 {
	i, alike := find(opens, id)
	if o.types.List[id].isSaturated(alike) {
		return opens
	}
	return slices.Insert(opens, i, id)
}

// find returns the position of the first call of type id in opens, the sorted types of the calls in
// flight, and the number of such calls.
func find(opens []uint32, id uint32) (at, alike int) {
	at, _ = slices.BinarySearch(opens, id)
	for at+alike < len(opens) && opens[at+alike] == id {
		alike++
	}
	return at, alike
}

// isSaturated reports whether the given number of calls of type t also stands for any larger number
// of such calls; see [maxAlike].
func (t *openType) isSaturated(alike int) bool {
	return t.watches && !t.stays && (t.many && alike > 0 || alike >= maxAlike)
}

// survivors returns the types of the calls in flight after some observers have stopped waiting. It
// drops calls that can no longer affect a net. opens contains the types before, and is not
// modified. killed contains, for each net, the bit set of the observers that have stopped waiting.
func (o *openTypeTable) survivors(opens []uint32, killed []uint64) []uint32 {
	var out []uint32
	for _, id := range opens {
		t := o.types.List[id]
		var holds []callclass.Effect
		changed := false
		for _, h := range t.holds {
			left := o.nets[h.Net].dropWatches(h.Meaning, killed[h.Net])
			changed = changed || left != h.Meaning
			if left > 0 {
				holds = append(holds, callclass.Effect{Net: h.Net, Meaning: left})
			}
		}
		switch {
		case !changed:
			out = o.insert(out, id)
		case len(holds) > 0:
			t.holds = holds
			out = o.insert(out, o.typeOf(t))
		}
	}
	return out
}

func (o *openTypeTable) typeOf(t openType) uint32 {
	t.watches = !slices.ContainsFunc(t.holds, func(h callclass.Effect) bool { return !o.nets[h.Net].tokenless(h.Meaning) })
	t.many = t.many && t.watches && !t.stays
	k := append(o.key[:0], t.tag)
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
	o.key = k
	return uint32(o.types.NumberOf(k, t))
}

// unclear reports whether an unknown outcome of calls of type id must be explored separately. This
// is necessary if its effect differs both from the effect of a failure and from the effect of a
// call that never ends.
func (o *openTypeTable) unclear(id uint32) bool {
	t := &o.types.List[id]
	flies := slices.ContainsFunc(t.holds, func(h callclass.Effect) bool {
		hold := &o.nets[h.Net].held.List[h.Meaning]
		return len(hold.flights) > 0 || hold.spoils
	})
	if !flies {
		return false // an unknown outcome is equivalent to a failure
	}
	for _, h := range t.holds {
		n := o.nets[h.Net]
		hold := n.held.List[h.Meaning]
		if len(hold.watches) > 0 || slices.ContainsFunc(hold.flights, func(t int) bool { return n.Info.Transitions[t].Release }) {
			return true
		}
	}
	return false
}

// end visits the states that follow when a call of type id ends with an event of the given kind.
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
	// The listed calls of type id may represent any number of calls. In that case, one of them can
	// succeed without changing the list. But the list might also represent exactly the listed
	// calls, so the state with one call fewer must be visited as well. This is unnecessary after a
	// success if t.many is set, unless other calls count toward requirements again once the last
	// such call ends.
	if kind == succeeds && t.isSaturated(alike) {
		s.visitEnd(k, opens, killed, rest, by)
	}
	if !(kind == succeeds && t.many && !s.spoils(id)) {
		s.visitEnd(k, slices.Delete(slices.Clone(opens), i, i+1), killed, rest, by)
	}
}

func (s *Space) visitEnd(k int32, opens []uint32, killed []uint64, rest openType, by event) {
	s.reach(append(s.next[:1+len(s.nets)], s.survivors(opens, killed)...), rest, k, by)
}

// admits reports whether no net blocks calls of class c in state k.
func (s *Space) admits(k int32, c int) bool {
	words := s.state(k)
	for _, t := range s.classes[c].effects {
		if s.nets[t.Net].begin(int(words[1+t.Net]), t.Meaning).verdict == blocks {
			return false
		}
	}
	return true
}

// stateAfter returns the words of the state that follows state k when a call of class c begins and
// succeeds. It does not advance the query's monitor. The search might not have visited the
// resulting state.
func (s *Space) stateAfter(k int32, c uint32) []uint32 {
	words := s.state(k)
	next := slices.Clone(words[:1+len(s.nets)])
	killed := make([]uint64, len(s.nets))
	var holds []callclass.Effect
	for _, t := range s.classes[c].effects {
		b := s.nets[t.Net].begin(int(next[1+t.Net]), t.Meaning)
		next[1+t.Net], killed[t.Net] = uint32(b.next), b.killed
		if b.hold > 0 {
			holds = append(holds, callclass.Effect{Net: t.Net, Meaning: b.hold})
		}
	}
	opens := s.survivors(words[1+len(s.nets):], killed)
	clear(killed)
	for _, h := range holds {
		e := s.nets[h.Net].end(int(next[1+h.Net]), h.Meaning, gate.Success)
		next[1+h.Net], killed[h.Net] = uint32(e.next), e.killed
	}
	next = append(next, s.survivors(opens, killed)...)
	s.clearSpoiled(next)
	return next
}
