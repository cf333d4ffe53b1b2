package petri

// maxCounters is the maximum number of counters in a net, and thus of ranges in a box.
const maxCounters = 3

// infinite is larger than any token count; as an upper bound it means "unbounded".
const infinite = 1 << 50

// box is a set of counter values: the product of one range per counter. Unused counters are 0.
type box struct {
	lo, hi [maxCounters]int
}

// step holds the change to each counter when a sequence of transitions fires.
type step [maxCounters]int

func (b box) empty() bool {
	for c := range b.lo {
		if b.lo[c] > b.hi[c] {
			return true
		}
	}
	return false
}

// intersect returns the intersection of b and o.
func (b box) intersect(o box) box {
	for c := range b.lo {
		b.lo[c], b.hi[c] = max(b.lo[c], o.lo[c]), min(b.hi[c], o.hi[c])
	}
	return b
}

func (b box) shift(d step) box {
	for c := range b.lo {
		b.lo[c] += d[c]
		if b.hi[c] < infinite {
			b.hi[c] += d[c]
		}
	}
	return b
}

func (d step) add(o step) step {
	for c := range d {
		d[c] += o[c]
	}
	return d
}

func (d step) negate() step {
	for c := range d {
		d[c] = -d[c]
	}
	return d
}

// unit returns the index of the only counter that the step changes. ok is true if there is such a
// counter and it changes by 1 or -1.
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

// size returns the number of values in b. ok is false if that number is too large.
func (b box) size() (n int, ok bool) {
	n = 1
	for c := range b.lo {
		size := b.hi[c] - b.lo[c] + 1
		if size <= 0 {
			return 0, true
		}
		if n > infinite*1024/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}

// subtract computes the values of b that are not in o. It splits them into disjoint boxes, appends
// these boxes to out, and returns the extended slice.
func (b box) subtract(o box, out []box) []box {
	if b.intersect(o).empty() {
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

// subtractAll returns the values of b that lie outside every box in others, split into disjoint
// boxes.
func (b box) subtractAll(others []box) []box {
	left := []box{b}
	for _, o := range others {
		var next []box
		for _, l := range left {
			next = l.subtract(o, next)
		}
		left = next
	}
	return left
}
