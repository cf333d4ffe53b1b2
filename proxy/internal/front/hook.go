package front

import (
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/httpguard"
)

// hookPath is the path for the events of agents' hooks, followed by the name of the agent.
const hookPath = "/hook/"

// hook serves an event of an agent's hook. An unreadable event gets an HTTP error: the agent must
// be configured to block the call on such an error, because most agents let it pass.
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
	if !checkMediaType(w, r) {
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
	_, _ = w.Write(answer) // an agent that has disconnected does not make the call
}
