package operator

import "time"

// A StopInfo describes an order to refuse calls.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // session whose calls are refused; empty: all sessions
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // the database did not take the stop: it holds in this process only
}

// A Stopping is the result of an order to refuse calls or to allow them again.
type Stopping struct {
	Already bool       `json:"already"` // the order changed nothing
	Shared  bool       `json:"shared"`  // the order holds for every process with the same database, else for this process
	Left    []StopInfo `json:"left"`    // stops that are now in force

	// Alone explains, if the order could not be written to the database, that only this process
	// obeys it, and what follows from that. It is empty if the order was written.
	Alone string `json:"alone,omitempty"`
}
