package control

import (
	"encoding/json"
	"net/http"

	"github.com/petrigate/petrigate/internal/operator"
)

// Switch is the body of a request to activate or deactivate a net.
type Switch struct {
	Net    string `json:"net"`
	Active bool   `json:"active"`
	Actor  string `json:"actor"`
	PIN    string `json:"pin,omitempty"` // the proxy's PIN, if it has one; required to activate a net
}

// Accept is the body of a request to accept a tool's current definition.
type Accept struct {
	Canonical string `json:"canonical"`
	Hash      string `json:"hash"` // hash of the definition that the person has seen
	Actor     string `json:"actor"`
	PIN       string `json:"pin,omitempty"`
}

// Stop is the body of a request to refuse all new calls, or to allow calls again.
type Stop struct {
	Session string `json:"session,omitempty"` // ID of the session; if empty, the request applies to all sessions
	Actor   string `json:"actor"`
	Reason  string `json:"reason,omitempty"`
	PIN     string `json:"pin,omitempty"` // the proxy's PIN, if it has one; required to allow calls again
}

// Answer is the body of a request to answer an approval request.
type Answer struct {
	Approve bool   `json:"approve"`
	Actor   string `json:"actor"`
	Reason  string `json:"reason,omitempty"`
	Shown   string `json:"shown,omitempty"` // digest of the question text that the person has read

	Grant *operator.Grant `json:"grant,omitempty"` // grant to create along with the approval
	PIN   string          `json:"pin,omitempty"`   // PIN as typed by the person
}

// Revoke is the body of a request to revoke a grant.
type Revoke struct {
	Actor string `json:"actor"`
}

// Reset is the body of a request to reset a session.
type Reset struct {
	Actor string `json:"actor"`
	PIN   string `json:"pin,omitempty"`
}

// Settle is the body of a request to set the outcome of a call whose outcome is unknown.
type Settle struct {
	Call    uint64 `json:"call"`
	Success bool   `json:"success"`
	Actor   string `json:"actor"`
	PIN     string `json:"pin,omitempty"`
}

// failure is the body of an error response.
type failure struct {
	Error string `json:"error"`
}

func respond(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = failure{Error: err.Error()}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // keeps <, > and & in the arguments of calls readable
	_ = e.Encode(v)        // an error means that the operator has disconnected
}
