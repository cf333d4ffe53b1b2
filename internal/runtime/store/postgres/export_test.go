package postgres

// Waiting returns the number of calls of Load that wait for the running one.
func (d *DB) Waiting() int {
	d.loads.mu.Lock()
	defer d.loads.mu.Unlock()
	return len(d.loads.waiting)
}
