package postgres

import "sync"

// health is what is known of the database: why nothing can be committed, if so.
type health struct {
	mu  sync.Mutex
	err error
}

func (h *health) get() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

func (h *health) set(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}
