package postgres

// Waiting is how many calls of Load wait for the one that is under way.
func (d *DB) Waiting() int {
	d.loads.mu.Lock()
	defer d.loads.mu.Unlock()
	return len(d.loads.waiting)
}
