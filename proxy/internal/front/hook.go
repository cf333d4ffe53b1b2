package front

import (
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/httpguard"
)

// hookPath is the path for hook events. The name of the agent follows it.
const hookPath = "/hook/"

// hook serves an event from the hook of an agent. If the event cannot be read, it returns an HTTP
// error. Most agents then let the call pass, so they must be configured to block it.
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
	_, _ = w.Write(answer) // an error means that the agent has disconnected and will not make the call
}
