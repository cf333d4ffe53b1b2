package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// A ToolKeeper is an [operator.Proxy] that pins tool definitions.
type ToolKeeper interface {
	ToolChanges() []operator.ToolChange
	AcceptTool(canonical, hash string, a operator.Actor) error
}

// A Server handles operators' requests on its own socket until it is closed.
type Server struct {
	Path    string
	http    *http.Server
	end     sync.Once
	closing chan struct{} // closed by Close to end requests that wait for changes
	done    chan struct{}
}

// Listen opens a new socket in dir and uses it to serve operators' requests to the proxy o. It
// creates dir if necessary, and removes the sockets of processes that were killed. The caller must
// close the server.
func Listen(dir string, o operator.Proxy) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory for control sockets: %w", err)
	}
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	removeStale(dir)
	path := filepath.Join(dir, socketName(os.Getpid()))
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, listenError(path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("closing the control socket to others: %w", err)
	}
	s := &Server{Path: path, closing: make(chan struct{}), done: make(chan struct{})}
	s.http = &http.Server{Handler: routes(o, s.closing), ReadHeaderTimeout: 5 * time.Second, ConnContext: withPeer}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // Serve returns after Close
	}()
	return s, nil
}

// maxPath is the maximum length of a socket path, in bytes, that works on all supported systems. If
// a path is longer, the operating system's error is just "invalid argument".
const maxPath = 103

func listenError(path string, err error) error {
	if len(path) > maxPath {
		return fmt.Errorf("opening the control socket: the path %s is too long (%d bytes, at most %d); set PETRIGATE_RUNTIME_DIR to a short directory", path, len(path), maxPath)
	}
	return fmt.Errorf("opening the control socket: %w", err)
}

// Close stops the server and removes its socket. It ends requests that wait for changes
// immediately, and all other requests after at most one second.
func (s *Server) Close() error {
	s.end.Do(func() { close(s.closing) })
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.done
	return err
}

func routes(o operator.Proxy, ends <-chan struct{}) http.Handler {
	mux := http.NewServeMux()
	get := func(path string, f func(*http.Request) (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := f(r)
			respond(w, v, err)
		})
	}
	get("/ping", func(*http.Request) (any, error) { return struct{}{}, nil })
	get("/status", func(*http.Request) (any, error) { return o.Status(), nil })
	get("/tools", func(r *http.Request) (any, error) {
		o.AwaitTools(r.Context())
		return o.Tools(r.URL.Query().Get("session"))
	})
	get("/approvals", func(*http.Request) (any, error) { return o.Approvals(), nil })
	get("/approvals/changes", func(r *http.Request) (any, error) {
		return awaitChange(r.Context(), o, ends, r.URL.Query().Get("after"))
	})
	get("/approvals/{id}", func(r *http.Request) (any, error) { return o.Approval(r.PathValue("id")) })
	sessionRoutes(mux, get, o)
	get("/shadow", func(r *http.Request) (any, error) { return o.Shadow(r.URL.Query().Get("session")) })
	get("/nets", func(*http.Request) (any, error) { return o.Nets(), nil })
	handleVoidOrder(mux, "/approvals/{id}", func(r *http.Request, id string, a Answer) error {
		return o.Answer(id, operator.Answer{
			Approve: a.Approve, Channel: operator.ChannelCLI, Person: peerOf(r.Context()), Actor: a.Actor, Reason: a.Reason, Shown: a.Shown, Grant: a.Grant, PIN: a.PIN,
		})
	})
	get("/grants", func(*http.Request) (any, error) { return o.Grants(), nil })
	handleVoidOrder(mux, "/grants/{id}/revoke", func(_ *http.Request, id string, a Revoke) error { return o.Revoke(id, a.Actor) })
	handleOrder(mux, "/stop", func(_ *http.Request, _ string, a Stop) (any, error) { return o.Stop(a.Session, a.Actor, a.Reason) })
	handleOrder(mux, "/start", func(_ *http.Request, _ string, a Stop) (any, error) {
		return o.StartAgain(a.Session, operator.Actor{Name: a.Actor, PIN: a.PIN})
	})
	if r, can := o.(Reloader); can {
		handleOrder(mux, "/reload", func(q *http.Request, _ string, a Reload) (any, error) { return r.Reload(q.Context(), a), nil })
	}
	if k, can := o.(ToolKeeper); can {
		get("/tools/changes", func(r *http.Request) (any, error) {
			o.AwaitTools(r.Context())
			return k.ToolChanges(), nil
		})
		handleVoidOrder(mux, "/tools/accept", func(_ *http.Request, _ string, a Accept) error {
			return k.AcceptTool(a.Canonical, a.Hash, operator.Actor{Name: a.Actor, PIN: a.PIN})
		})
	}
	if g, can := o.(HookGate); can {
		mux.HandleFunc("POST /hook", serveHook(g))
	}
	if c, can := o.(ConsoleOpener); can {
		handleOrder(mux, "/console", func(q *http.Request, _ string, a Open) (any, error) { return open(c, peerOf(q.Context()), a) })
	}
	handleVoidOrder(mux, "/nets", func(_ *http.Request, _ string, a Switch) error {
		return o.SwitchNet(a.Net, a.Active, operator.Actor{Name: a.Actor, PIN: a.PIN})
	})
	return mux
}

// sessionRoutes registers the handlers that list sessions, reset them, and settle calls whose
// outcome is unknown.
func sessionRoutes(mux *http.ServeMux, get func(path string, f func(*http.Request) (any, error)), o operator.Proxy) {
	get("/sessions", func(*http.Request) (any, error) { return o.AllSessions() })
	get("/sessions/list", func(*http.Request) (any, error) { return o.ListSessions() })
	get("/sessions/{id}", func(r *http.Request) (any, error) { return o.Session(r.PathValue("id")) })
	handleVoidOrder(mux, "/sessions/{id}/reset", func(_ *http.Request, id string, a Reset) error {
		return o.ResetSession(id, operator.Actor{Name: a.Actor, PIN: a.PIN})
	})
	handleVoidOrder(mux, "/sessions/{id}/settle", func(_ *http.Request, id string, a Settle) error {
		return o.SettleCall(id, a.Call, a.Success, operator.Actor{Name: a.Actor, PIN: a.PIN})
	})
}

// handleVoidOrder is like handleOrder, but for an operation without a result. The response is an
// empty object.
func handleVoidOrder[T any](mux *http.ServeMux, path string, obey func(r *http.Request, id string, order T) error) {
	handleOrder(mux, path, func(r *http.Request, id string, order T) (any, error) { return struct{}{}, obey(r, id, order) })
}

// handleOrder registers a handler for POST requests whose body is a T. The handler calls obey and
// responds with its result.
func handleOrder[T any](mux *http.ServeMux, path string, obey func(r *http.Request, id string, order T) (any, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var order T
		var v any
		d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
		d.DisallowUnknownFields()
		err := d.Decode(&order)
		if err != nil {
			err = fmt.Errorf("reading the request: %w", err)
		} else {
			v, err = obey(r, r.PathValue("id"), order)
		}
		respond(w, v, err)
	})
}
