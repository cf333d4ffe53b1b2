package operator

import "time"

// A StopInfo describes an order to refuse calls.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // session whose calls are refused; empty: all sessions
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // whether the stop applies to this process only, because it could not be written to the database
}

// A Stopping is the result of an order to refuse calls or to allow them again.
type Stopping struct {
	Already bool       `json:"already"` // whether the order changed nothing
	Shared  bool       `json:"shared"`  // whether the order applies to all processes that share the database; if false, it applies to this process only
	Left    []StopInfo `json:"left"`    // stops that are in force now

	// Alone returns "" if the order was written to the database. Otherwise, it explains that only
	// this process obeys the order, and what the consequences are.
	Alone string `json:"alone,omitempty"`
}
