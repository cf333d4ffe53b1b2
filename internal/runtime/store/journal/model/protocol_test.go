package model

// The model is of the protocol on the page, not of the code: what two processes write to the log and the
// checkpoint, step by step, and what a kill or a loss of power leaves of it. An action is what nothing
// can come between: what the code does with a lock held, or one operation of the disk.

// Bounds of the model.
const (
	calls  = 3
	budget = 2
	most   = 2*calls + 1 // steps of the log
)

// A kind is what a step of the log is.
type kind uint8

// The steps of the log. Those of a call have its number.
const (
	none     kind = 0
	stopStep kind = 1
	reserve  kind = 10
	outcome  kind = 20
)

func (k kind) reserves() (call int, ok bool) { return int(k - reserve), k >= reserve && k < outcome }

// values are the state that the log moves.
type values struct {
	spent   uint8 // of the budget
	version uint8 // of the part that has the budget
	used    bool  // the approval is
	stopped bool
}

// A place is where in the log something is: behind a step, in the segment that begins after a step.
type place struct{ step, segment uint8 }

// The phases of a call in a process, or of the stop: then forwarding is to acknowledge.
type phase uint8

const (
	dead     phase = iota
	opening        // the checkpoint is read, the log is not
	idle           //
	decided        // on the state as it was read without the turn
	led            // it has the turn, and has read to the end of the log
	fetched        // it has read in the checkpoint whether the approval is used
	appended       // and not flushed
	flushed        //
	forwarded
)

// The phases of a fold, which goes on beside the call.
type foldPhase uint8

const (
	resting foldPhase = iota
	copied            // what is folded is known
	written           // the log is on the disk up to there, and the checkpoint has it
)

type process struct {
	phase   phase
	turn    bool
	rolling bool  // the segment has its name aside, and the next has none yet
	call    uint8 // or stopCall
	version uint8 // that was decided on
	free    bool  // the approval, as the checkpoint has it
	spent   bool  // the approval, as the image had it before the checkpoint was read

	at     place
	folded uint8 // a step up to which the checkpoint has all
	image  values

	fold   foldPhase
	from   uint8
	to     place
	folds  values
	result uint8 // how far the checkpoint is after it
}

const stopCall = calls

// A segment of the log that is not the last, or the last.
type segment struct {
	after  uint8
	sealed bool
}

// A state is all files, as the machine has them, both processes, and what has come of the calls.
type state struct {
	steps   [most]kind
	n       uint8 // of steps
	flushed uint8 // of them, so many are on the disk for certain
	junk    bool  // behind the step junkAt something stands that is no step
	junkAt  uint8

	segments [3]segment
	parts    uint8 // of segments
	nameless bool  // the last has no name yet

	checkpoint       place
	checkpointValues values

	process [2]process

	begun  uint8 // so many calls
	asked  bool  // the stop was
	ends   uint8 // kills and losses of power so far
	did    [calls]bool
	late   [calls]bool // the reservation was appended after the stop was acknowledged
	done   bool        // the stop was acknowledged
	denied bool        // a process has refused to read what is there
}

// A fault is something of the protocol that is left out.
type fault string

// A world is a model with its bounds, and what is left out.
type world struct {
	fault    fault
	uses     [calls]bool // calls that use the approval
	stop     bool        // a stop is asked for at some time
	outcomes bool        // the outcomes of calls are appended
	ends     uint8       // at most so many kills and losses of power
	rolls    uint8       // at most so many segments are put aside
	named    bool        // the processes are told apart, for a trace
}

// end is up to which step the log can be read.
func (s *state) end() uint8 {
	if s.junk {
		return s.junkAt
	}
	return s.n
}

// replay is the state that the log gives up to a step.
func (w *world) replay(s *state, to uint8) (v values) {
	for _, k := range s.steps[:to] {
		w.apply(&v, k)
	}
	return v
}

func (w *world) apply(v *values, k kind) {
	switch call, ok := k.reserves(); {
	case ok:
		v.spent++
		v.version++
		v.used = v.used || w.uses[call] && w.fault != useNotLogged
	case k >= outcome:
		v.version++
	case k == stopStep:
		v.stopped = true
	}
}

// pending says that the use of the approval is in the log that the image has, and not folded.
func (w *world) pending(s *state, p *process) bool {
	for _, k := range s.steps[p.folded:max(p.at.step, p.folded)] {
		if call, ok := k.reserves(); ok && w.uses[call] {
			return w.fault != useNotLogged
		}
	}
	return false
}

// last is the segment that is appended to.
func (s *state) last() *segment { return &s.segments[s.parts-1] }

// following is the segment behind another; nil: that is the last.
func (s *state) following(after uint8) *segment {
	for i := range s.segments[:s.parts] {
		if s.segments[i].after > after {
			return &s.segments[i]
		}
	}
	return nil
}

func (s *state) sealed(after uint8) bool {
	for i := range s.segments[:s.parts] {
		if s.segments[i].after == after {
			return s.segments[i].sealed
		}
	}
	return true
}

// load makes the image that of the checkpoint.
func (s *state) load(p *process) {
	p.at, p.folded, p.image = s.checkpoint, s.checkpoint.step, s.checkpointValues
}

// locate opens the segment of the image. It reports false where that is sealed, and nothing else goes on
// from there.
func (w *world) locate(s *state, p *process) bool {
	for s.sealed(p.at.segment) {
		next := s.following(p.at.segment)
		switch {
		case w.fault != sealedForgotten && next != nil && p.at.step == next.after:
			p.at.segment = next.after
		case s.checkpoint.step > p.at.step:
			s.load(p)
		default:
			return false
		}
	}
	return true
}

// read brings the image to the end of the log. A segment that was opened can be read although it is
// sealed; one that follows cannot.
func (w *world) read(s *state, p *process) {
	for {
		next := s.following(p.at.segment)
		end := s.end()
		if next != nil {
			end = next.after
		}
		for ; p.at.step < end; p.at.step++ {
			w.apply(&p.image, s.steps[p.at.step])
		}
		switch {
		case next == nil:
			return
		case !next.sealed:
			p.at.segment = next.after
		default:
			if s.checkpoint.step <= p.at.step {
				s.denied = true
				return
			}
			s.load(p)
			if !w.locate(s, p) {
				s.denied = true
				return
			}
		}
	}
}

// lead is what a process does first that has the turn: it ends what another has left undone, reads to the
// end, and cuts off what is no step.
func (w *world) lead(s *state, p *process) {
	s.nameless = false
	w.read(s, p)
	if w.fault != tailNotCut {
		s.junk = false
	}
}

// append appends a step, and moves the image by it.
func (w *world) append(s *state, p *process, k kind) {
	s.steps[s.n] = k
	s.n++
	w.apply(&p.image, k)
	p.at.step = s.n
}

// flush brings the last segment to the disk.
func (s *state) flush() { s.flushed = s.n }
