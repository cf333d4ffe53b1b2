package model

// The model describes the protocol of PROTOCOL.md, not the code: the writes of two processes to the
// log and the checkpoint, step by step, and the files that a kill or a power loss leaves. An action
// is atomic: it is code that runs under a lock, or one operation of the disk.

// Bounds of the model.
const (
	calls  = 3
	budget = 2
	most   = 2*calls + 1 // steps of the log
)

// A kind is the kind of a step in the log.
type kind uint8

// The steps of the log. A step of a call has the number of the call.
const (
	none     kind = 0
	stopStep kind = 1
	reserve  kind = 10
	outcome  kind = 20
)

func (k kind) reserves() (call int, ok bool) { return int(k - reserve), k >= reserve && k < outcome }

// values is the state in the log.
type values struct {
	spent   uint8 // spent part of the budget
	version uint8 // of the part that contains the budget
	used    bool  // the approval was used
	stopped bool
}

// A place is a position in the log: after a step, in the segment that begins after a step.
type place struct{ step, segment uint8 }

// phase is the phase of a call in a process. For a stop, forwarded means acknowledged.
type phase uint8

const (
	dead     phase = iota
	opening        // the checkpoint was read, but not the log
	idle           //
	decided        // based on the state that was read without the lock
	locked         // the process holds the lock and has read to the end of the log
	fetched        // the process has read from the checkpoint whether the approval is used
	appended       // but not flushed
	flushed        //
	forwarded
)

// foldPhase is the phase of a fold, which runs concurrently with the call.
type foldPhase uint8

const (
	resting foldPhase = iota
	copied            // the changes to fold were copied
	written           // the log up to there is on the disk, and the checkpoint has it
)

type process struct {
	phase    phase
	locked   bool
	rotating bool  // the segment was renamed, and the next one is not named yet
	call     uint8 // or stopCall
	version  uint8 // version that the decision was based on
	free     bool  // the approval is unused in the checkpoint
	spent    bool  // the approval was used in the image before the checkpoint was read

	at     place
	folded uint8 // last step known to be in the checkpoint
	image  values

	fold   foldPhase
	from   uint8
	to     place
	folds  values
	result uint8 // last step in the checkpoint after the fold
}

const stopCall = calls

// A segment of the log: a renamed one, or the current one.
type segment struct {
	after  uint8
	sealed bool
}

// A state has all files as the machine sees them, both processes, and the results of the calls.
type state struct {
	steps   [most]kind
	n       uint8 // number of steps
	flushed uint8 // number of steps that are certainly on the disk
	junk    bool  // torn data follows the step junkAt
	junkAt  uint8

	segments [3]segment
	parts    uint8 // number of segments
	nameless bool  // the last segment is not named yet

	checkpoint       place
	checkpointValues values

	process [2]process

	begun  uint8 // number of calls begun
	asked  bool  // the stop was requested
	ends   uint8 // number of kills and power losses so far
	did    [calls]bool
	late   [calls]bool // the reservation was appended after the stop was acknowledged
	done   bool        // the stop was acknowledged
	denied bool        // a process has refused to read the files
}

// A fault is a part of the protocol that is omitted.
type fault string

// A world is a model with its bounds and its omitted part.
type world struct {
	fault    fault
	uses     [calls]bool // calls that use the approval
	stop     bool        // a stop is requested at some time
	outcomes bool        // the outcomes of calls are appended
	ends     uint8       // maximum number of kills and power losses
	rolls    uint8       // maximum number of rotations
	named    bool        // processes are distinguished, for a trace
}

// end returns the last step that can be read from the log.
func (s *state) end() uint8 {
	if s.junk {
		return s.junkAt
	}
	return s.n
}

// replay returns the state after replaying the log up to a step.
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

// pending reports whether the log has a use of the approval that the image has read and that is not
// folded.
func (w *world) pending(s *state, p *process) bool {
	for _, k := range s.steps[p.folded:max(p.at.step, p.folded)] {
		if call, ok := k.reserves(); ok && w.uses[call] {
			return w.fault != useNotLogged
		}
	}
	return false
}

// last returns the current segment.
func (s *state) last() *segment { return &s.segments[s.parts-1] }

// following returns the segment after another one, or nil if that one is the last.
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

// load sets the image to the checkpoint.
func (s *state) load(p *process) {
	p.at, p.folded, p.image = s.checkpoint, s.checkpoint.step, s.checkpointValues
}

// locate opens the segment of the image. It returns false if the segment is sealed and the image
// cannot continue with another one.
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

// read reads the log to its end. An open segment can be read although it is sealed; the next one
// cannot.
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

// lead models the first actions under the process lock: finish what another process has left, read
// to the end, and cut off torn data.
func (w *world) lead(s *state, p *process) {
	s.nameless = false
	w.read(s, p)
	if w.fault != tailNotCut {
		s.junk = false
	}
}

// append appends a step and applies it to the image.
func (w *world) append(s *state, p *process, k kind) {
	s.steps[s.n] = k
	s.n++
	w.apply(&p.image, k)
	p.at.step = s.n
}

// flush flushes the last segment to the disk.
func (s *state) flush() { s.flushed = s.n }
