package operator

import "time"

// A StopInfo describes a stop, during which the proxy refuses calls.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // session whose calls are refused; if empty, all sessions
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // whether the stop could not be written to the database, so that only this process refuses calls
}

// A Stopping is the result of an operator's order to stop calls, or to allow them again.
type Stopping struct {
	Already bool       `json:"already"` // whether the calls were already stopped, or already allowed
	Shared  bool       `json:"shared"`  // whether the order affects not only this process, but all processes that share the database
	Left    []StopInfo `json:"left"`    // stops that are in force after the order

	// Alone explains why the order affects only this process, and names the consequences. It is
	// empty if the order was written to the database.
	Alone string `json:"alone,omitempty"`
}
