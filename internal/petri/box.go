package petri

// maxCounters is the number of counters that a box has ranges for.
const maxCounters = 3

// far is more than any count.
const far = 1 << 50

// box is a set of values of counters: each is in its range, independently of
// the others. Counters that a net does not have are 0.
type box struct {
	lo, hi [maxCounters]int
}

// step is the effect of a sequence of transitions on the counters.
type step [maxCounters]int

func (b box) empty() bool {
	for c := range b.lo {
		if b.lo[c] > b.hi[c] {
			return true
		}
	}
	return false
}

// and is the intersection.
func (b box) and(o box) box {
	for c := range b.lo {
		b.lo[c], b.hi[c] = max(b.lo[c], o.lo[c]), min(b.hi[c], o.hi[c])
	}
	return b
}

func (b box) move(d step) box {
	for c := range b.lo {
		b.lo[c] += d[c]
		if b.hi[c] < far {
			b.hi[c] += d[c]
		}
	}
	return b
}

func (d step) plus(o step) step {
	for c := range d {
		d[c] += o[c]
	}
	return d
}

func (d step) minus() step {
	for c := range d {
		d[c] = -d[c]
	}
	return d
}

// unit returns the only counter that the step moves, if it moves it by one.
func (d step) unit() (counter int, ok bool) {
	for c, n := range d {
		switch {
		case n == 0:
		case ok || n < -1 || n > 1:
			return 0, false
		default:
			counter, ok = c, true
		}
	}
	return counter, ok
}

// volume returns the number of values; false if there are too many to count.
func (b box) volume() (n int, ok bool) {
	n = 1
	for c := range b.lo {
		size := b.hi[c] - b.lo[c] + 1
		if size <= 0 {
			return 0, true
		}
		if n > far*1024/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}

// without appends to out the parts of b that are not in o, as boxes that have
// nothing in common.
func (b box) without(o box, out []box) []box {
	if b.and(o).empty() {
		return append(out, b)
	}
	for c := range b.lo {
		if b.lo[c] < o.lo[c] {
			part := b
			part.hi[c] = o.lo[c] - 1
			out = append(out, part)
			b.lo[c] = o.lo[c]
		}
		if b.hi[c] > o.hi[c] {
			part := b
			part.lo[c] = o.hi[c] + 1
			out = append(out, part)
			b.hi[c] = o.hi[c]
		}
	}
	return out
}

// rest returns the parts of b outside all of the others.
func (b box) rest(others []box) []box {
	left := []box{b}
	for _, o := range others {
		var next []box
		for _, l := range left {
			next = l.without(o, next)
		}
		left = next
	}
	return left
}
