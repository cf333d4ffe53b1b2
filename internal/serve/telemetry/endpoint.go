package telemetry

import (
	"io"
	"net/http"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
)

// An Endpoint serves /metrics, /healthz and /readyz. Untrusted callers can only find out whether
// the proxy is alive and ready.
type Endpoint struct {
	Metrics *Metrics
	State   func() operator.Status // returns the current state of the proxy
	Missing func() []string        // returns the reasons why the proxy is not ready, or no reasons if it is ready
}

// Serve handles a request for /metrics, /healthz or /readyz. For any other path, it returns false
// without writing a response. Only trusted callers see the names of servers and tools.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, trusted bool) bool {
	var answer func(w http.ResponseWriter, trusted bool)
	switch r.URL.Path {
	case "/metrics":
		answer = e.serveMetrics
	case "/healthz":
		answer = serveAlive
	case "/readyz":
		answer = e.serveReady
	default:
		return false
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return true
	}
	answer(w, trusted)
	return true
}

func (e *Endpoint) serveMetrics(w http.ResponseWriter, trusted bool) {
	if !trusted {
		w.Header().Set("WWW-Authenticate", `Bearer realm="petrigate"`)
		http.Error(w, "metrics require a program on this machine that uses localhost, or a bearer token of the listener", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(e.Metrics.Append(nil, e.State()))
}

func serveAlive(w http.ResponseWriter, _ bool) { _, _ = io.WriteString(w, "ok\n") }

func (e *Endpoint) serveReady(w http.ResponseWriter, trusted bool) {
	missing := e.Missing()
	if len(missing) == 0 {
		_, _ = io.WriteString(w, "ready\n")
		return
	}
	said := "not ready\n"
	if trusted {
		said += strings.Join(missing, "\n") + "\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, said)
}

// Handler returns an HTTP handler that serves only e. It responds with status 404 to paths that e
// does not serve. The trusted function reports whether the sender of a request may read the metrics
// and learn why the proxy is not ready.
func (e *Endpoint) Handler(trusted func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.Serve(w, r, trusted(r)) {
			http.NotFound(w, r)
		}
	})
}
