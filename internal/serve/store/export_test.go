package store

// SetRoom says how many principals are kept in memory at least.
func (d *Durable) SetRoom(n int) { d.room = n }

// Kept reports whether what a principal shares is in memory.
func (d *Durable) Kept(principal string) bool { return d.principals[principal] != nil }
