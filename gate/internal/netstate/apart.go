package netstate

// Apart is the part of the state of a net that only nets with spoilers, a row or a key
// have. It is replaced and never changed.
type Apart struct {
	// Spoilers are calls under way that spoil evidence: while there is one, no watch
	// begins.
	Spoilers []Flight

	// Lapsed, of the state for a value, are watches of the net at large that do not
	// count for it.
	Lapsed []Flight

	Row string // of a net with [toolnet.Net].Row: tells the call that it counted last; empty: none
}

// Spoilers returns the calls under way that spoil evidence, see [Apart].
func (d *NetData) Spoilers() []Flight {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Spoilers
}

// Lapsed returns the watches of the net at large that do not count for the value of d,
// see [Apart].
func (d *NetData) Lapsed() []Flight {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Lapsed
}

// Row tells the call that a net with [toolnet.Net].Row counted last, see [Apart].
func (d *NetData) Row() string {
	if d.Apart == nil {
		return ""
	}
	return d.Apart.Row
}

// SetSpoilers replaces the calls that spoil evidence; d must not be shared yet.
func SetSpoilers(d *NetData, flights []Flight) {
	d.setApart(Apart{Spoilers: flights, Lapsed: d.Lapsed(), Row: d.Row()})
}

// SetLapsed replaces the watches that do not count; d must not be shared yet.
func SetLapsed(d *NetData, flights []Flight) {
	d.setApart(Apart{Spoilers: d.Spoilers(), Lapsed: flights, Row: d.Row()})
}

// SetRow replaces the call that was counted last; d must not be shared yet.
func SetRow(d *NetData, row string) {
	d.setApart(Apart{Spoilers: d.Spoilers(), Lapsed: d.Lapsed(), Row: row})
}

// setApart keeps a, if there is anything in it.
func (d *NetData) setApart(a Apart) {
	d.Apart = nil
	if len(a.Spoilers)+len(a.Lapsed) > 0 || a.Row != "" {
		own := a
		d.Apart = &own
	}
}
