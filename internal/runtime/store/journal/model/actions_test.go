package model

// next calls each with all states that may follow s, and what happens.
func (w *world) next(s *state, each func(what string, s state)) {
	for i := range s.process {
		name := [2]string{"A", "B"}[i]
		act := func(what string, f func(s *state, p *process)) {
			t := *s
			f(&t, &t.process[i])
			each(name+" "+what, t)
		}
		p := &s.process[i]
		w.end(s, p, act)
		if p.phase == dead || p.phase == opening {
			w.open(s, p, act)
			continue
		}
		w.folding(s, p, act)
		if p.rotating {
			act("gives the next segment its name", func(s *state, p *process) {
				p.rotating, s.nameless = false, false
				p.at.segment = s.last().after
			})
			continue
		}
		w.locking(s, p, act)
		w.calling(s, p, act)
	}
	w.power(s, each)
}

type act func(what string, f func(s *state, p *process))

// free reports whether no process holds the process lock.
func (s *state) free() bool { return !s.process[0].locked && !s.process[1].locked }

// committing reports whether a process is in a phase that keeps the lock.
func (p *process) committing() bool { return p.phase >= locked && p.phase <= appended }

func (w *world) locking(s *state, p *process, act act) {
	if !p.locked || p.committing() {
		return
	}
	act("releases the process lock", func(_ *state, p *process) { p.locked = false })
	if s.parts <= w.rolls && p.at.step > s.last().after && p.at.step == s.n {
		act("renames the segment", func(s *state, p *process) {
			s.flush()
			s.segments[s.parts] = segment{after: s.n}
			s.parts++
			s.nameless, p.rotating = true, true
		})
	}
}

func (w *world) calling(s *state, p *process, act act) {
	switch p.phase {
	case idle:
		if s.begun < calls {
			act("decides", func(s *state, p *process) {
				p.call = s.begun
				s.begun++
				w.decide(s, p)
			})
		}
		if w.stop && !s.asked {
			act("is told to stop", func(s *state, p *process) {
				s.asked, p.call, p.phase = true, stopCall, decided
				if w.fault == stopUnlocked {
					w.read(s, p)
					w.append(s, p, stopStep)
					s.flush()
					s.done, p.phase = true, idle
				}
			})
		}
	case decided:
		if p.locked || s.free() {
			what := "acquires the process lock, and reads to the end"
			if w.fault == notCaughtUp {
				what = "acquires the process lock"
			}
			act(what, func(s *state, p *process) {
				if p.locked, p.phase = true, locked; w.fault != notCaughtUp {
					w.lead(s, p)
				}
				if p.call == stopCall || !w.uses[p.call] {
					p.phase = fetched
				}
			})
		}
	case locked:
		act("reads the approval", func(s *state, p *process) {
			p.phase, p.free, p.spent = fetched, !s.checkpointValues.used, w.fault != checkedOldCheckpoint && w.pending(s, p)
		})
	case fetched:
		act("judges and appends", w.commit)
	case appended:
		if w.fault == forwardedFirst {
			act("forwards", w.forward)
			break
		}
		act("flushes", func(s *state, p *process) { p.phase = flushed; s.flush() })
	case flushed:
		act("forwards", w.forward)
	case forwarded:
		if p.locked || s.free() {
			act("appends the outcome", func(s *state, p *process) {
				p.locked, p.phase = true, idle
				if w.fault != notCaughtUp {
					w.lead(s, p)
				}
				w.append(s, p, outcome+kind(p.call))
				p.call = 0
			})
		}
	}
}

// decide models the decision of the gate on the state that was read without the lock.
func (w *world) decide(s *state, p *process) {
	w.read(s, p)
	if p.image.stopped || p.image.spent >= budget {
		p.ends()
		return
	}
	p.phase, p.version = decided, p.image.version
}

// ends is the end of a call in the process.
func (p *process) ends() { p.phase, p.call, p.version, p.free, p.spent = idle, 0, 0, false, false }

// commit checks the decision against the state at the end of the log, and appends its step.
func (w *world) commit(s *state, p *process) {
	if p.call == stopCall {
		w.append(s, p, stopStep)
		p.phase = appended
		return
	}
	switch {
	case p.image.stopped:
		p.ends()
		return
	case p.image.version != p.version && w.fault != notCompared:
		p.free, p.spent = false, false
		w.decide(s, p) // decide again
		return
	case w.uses[p.call] && (!p.free || p.spent || w.pending(s, p)):
		p.ends()
		return
	}
	s.late[p.call] = s.done
	w.append(s, p, reserve+kind(p.call))
	p.version, p.free, p.spent, p.phase = 0, false, false, appended
}

func (w *world) forward(s *state, p *process) {
	if p.call == stopCall {
		s.done = true
		p.ends()
		return
	}
	s.did[p.call], p.phase = true, forwarded
	if !w.outcomes {
		p.ends()
	}
}

// folding models the fold of a process, which needs no process lock.
func (w *world) folding(s *state, p *process, act act) {
	switch p.fold {
	case resting:
		if p.at.step > p.folded && !p.rotating {
			act("begins to fold", func(_ *state, p *process) {
				p.fold, p.from, p.to, p.folds = copied, p.folded, p.at, p.image
			})
		}
	case copied:
		what := "flushes the log, and folds"
		if w.fault == foldedFirst {
			what = "folds"
		}
		act(what, func(s *state, p *process) {
			if w.fault != foldedFirst && p.to.segment == s.last().after {
				s.flush()
			}
			w.fold(s, p)
		})
	case written:
		if !p.rotating {
			act("forgets what is folded, and seals", func(s *state, p *process) {
				p.folded = max(p.folded, min(p.result, p.at.step))
				for i := range s.segments[:s.parts-1] {
					if s.segments[i+1].after <= p.result {
						s.segments[i].sealed = true
					}
				}
				p.fold, p.result = resting, 0
			})
		}
	}
}

// fold writes the changes since the last fold to the checkpoint, in one transaction.
func (w *world) fold(s *state, p *process) {
	switch {
	case w.fault != foldedBack && s.checkpoint.step >= p.to.step:
	case w.fault != foldedBack && s.checkpoint.step < p.from:
		s.denied = true
	default:
		for _, k := range s.steps[min(p.from, p.to.step):p.to.step] {
			if k == stopStep {
				s.checkpointValues.stopped = p.folds.stopped
				continue
			}
			s.checkpointValues.spent, s.checkpointValues.version = p.folds.spent, p.folds.version
			if call, ok := k.reserves(); ok && w.uses[call] {
				s.checkpointValues.used = p.folds.used
			}
		}
		s.checkpoint = p.to
	}
	p.fold, p.result = written, s.checkpoint.step
	p.from, p.to, p.folds = 0, place{}, values{}
}

// open models the start of a process.
func (w *world) open(s *state, p *process, act act) {
	if p.phase == dead {
		if s.free() {
			act("starts, and reads the checkpoint", func(s *state, p *process) {
				p.phase, p.locked = opening, true
				s.load(p)
			})
		}
		return
	}
	act("reads the log", func(s *state, p *process) {
		p.phase, p.locked = idle, false
		if w.fault == begunAnew && s.nameless && s.checkpoint.step == 0 {
			clear(s.steps[:])
			s.n, s.segments, s.parts = 0, [3]segment{}, 1
		}
		if !w.locate(s, p) {
			s.denied = true
			return
		}
		w.lead(s, p)
		s.flush()
	})
}

// end models kill -9. A process that is writing to the log may leave half of the write.
func (w *world) end(s *state, p *process, act act) {
	if p.phase == dead || s.ends == w.ends {
		return
	}
	kill := func(s *state, p *process) {
		*p = process{}
		s.ends++
	}
	act("is killed", kill)
	if p.locked && (p.phase == fetched || p.phase == forwarded) && !s.junk {
		act("is killed as it appends", func(s *state, p *process) {
			kill(s, p)
			s.junk, s.junkAt = true, s.n
		})
	}
}

// power models a power loss, which ends all processes: a prefix of the unflushed data remains,
// perhaps followed by a torn step.
func (w *world) power(s *state, each func(what string, s state)) {
	if s.ends == w.ends || s.process[0].phase == dead && s.process[1].phase == dead && s.flushed == s.n {
		return
	}
	for left := s.flushed; left <= s.n; left++ {
		for _, torn := range []bool{false, true} {
			if torn && left == s.n {
				continue
			}
			t := *s
			t.process = [2]process{}
			t.ends++
			if left < s.n || torn {
				t.junk, t.junkAt = torn, left
			}
			clear(t.steps[left:])
			t.n, t.flushed = left, left
			each("the power goes", t)
		}
	}
}
