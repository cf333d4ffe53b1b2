package front

import (
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/httpguard"
)

// hookPath is the path for hook events, to which the agent's name is appended.
const hookPath = "/hook/"

// hook serves an event from an agent's hook. For an unreadable event it returns an HTTP error. Most
// agents let the call pass in this case, so they must be configured to block it.
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
	_, _ = w.Write(answer) // an agent that has disconnected will not make the call
}
