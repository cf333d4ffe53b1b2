package front

import (
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/httpguard"
)

// hookPath is where agents send the events of their hooks; the name of the agent follows.
const hookPath = "/hook/"

// hook serves an event of an agent's hook. What cannot be read is answered by an HTTP error: an
// agent has to be told that such a one blocks the call, since most let it pass.
func (h *handler) hook(x *exchange, agent string) {
	w, r := x.w, x.r
	v, ok := h.guard.Admit(w, r)
	if !ok {
		return
	}
	x.caller = v
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if !acceptable(w, r) {
		return
	}
	body, release, ok := x.caller.Body(w, r)
	if !ok {
		return
	}
	x.release = release
	answer, err := h.front.Hook(r.Context(), v.Principal, agent, r, body)
	if err != nil {
		httpguard.Reject(w)
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // an agent that is gone does not make the call
}
