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

	// Alone is empty if the order was written to the database. Otherwise, it explains that only
	// this process obeys the order, and what follows from that.
	Alone string `json:"alone,omitempty"`
}
