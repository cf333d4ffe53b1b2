package front

import (
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/turns"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A handler is the proxy's HTTP endpoint.
type handler struct {
	front        *Front
	path         string
	guard        *httpguard.Guard
	hooks        bool // whether agents' hooks are served
	sessionLimit *sessionLimit
	turns        *turns.Turns // limits concurrent messages per principal; nil if there is only one principal
	beside       func(w http.ResponseWriter, r *http.Request, trusted bool) bool
	sse2024      sync.Map // the *reader of each HTTP+SSE client, keyed by client ID
}

// Headers of streamable HTTP.
const (
	sessionHeader  = "Mcp-Session-Id"
	protocolHeader = "Mcp-Protocol-Version"
)

// singleHeaders lists the headers that a request must not repeat.
var singleHeaders = [...]string{protocolHeader, sessionHeader, "Mcp-Method", "Mcp-Name", "Content-Type"}

// An exchange is an HTTP request and its response. It holds the resources that must be released
// when the response ends. The functions that acquired them can thus return while the call is still
// waiting.
type exchange struct {
	w http.ResponseWriter
	r *http.Request

	caller  httpguard.Caller
	release func()          // releases the bytes counted for the body; nil if no body was read
	turn    *turns.Turn     // waits for the message's turn; nil if concurrent messages are not limited
	post    *events.Post    // JSON-RPC response; nil for other responses
	client  *session.Client // client for this request only; nil if the client belongs to a session
	bound   func() bool     // called at the end; from then on, a lost connection no longer cancels the call; nil if not needed
	call    *pipeline.Call  // call to wait for, or nil
}

// checkMediaType refuses a request unless its headers clearly declare the body as JSON.
func checkMediaType(w http.ResponseWriter, r *http.Request) bool {
	for _, name := range singleHeaders {
		if len(r.Header[name]) > 1 {
			http.Error(w, "the header "+name+" is given twice", http.StatusBadRequest)
			return false
		}
	}
	if !plainJSON(firstHeader(r, "Content-Type")) {
		http.Error(w, "the body must be application/json in UTF-8", http.StatusUnsupportedMediaType)
		return false
	}
	if e := firstHeader(r, "Content-Encoding"); e != "" && e != "identity" {
		http.Error(w, "the body must not be encoded", http.StatusUnsupportedMediaType)
		return false
	}
	return true
}

// plainJSON reports whether a content type means JSON in UTF-8.
func plainJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// firstHeader returns the first value of the header with the given canonical name, or "" if the
// request does not have that header.
func firstHeader(r *http.Request, name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// turn returns a [turns.Turn] for handling one of the caller's messages, or nil if concurrent
// messages are not limited.
func (h *handler) turn(v httpguard.Caller) *turns.Turn {
	if h.turns == nil {
		return nil
	}
	return &turns.Turn{Of: h.turns, Principal: v.Principal}
}

// checkHeaders returns a fault if the headers contradict the message. The decision on a call
// depends only on the message, never on the headers.
func checkHeaders(r *http.Request, m wire.Message, meta wire.Meta) *wire.Fault {
	header := firstHeader(r, protocolHeader)
	mismatch := func(text string) *wire.Fault { return wire.NewFault(spec.CodeHeaderMismatch, text) }
	switch {
	case header == "":
		return mismatch(protocolHeader + " header is required")
	case meta.ProtocolVersion == "":
		return wire.NewFault(wire.CodeInvalidParams, "missing _meta field "+mcp.MetaKeyProtocolVersion)
	case header != meta.ProtocolVersion:
		return mismatch(protocolHeader + " header does not match the request")
	case r.Header.Get("Last-Event-ID") != "":
		return mismatch("streams of this revision are not resumable")
	case !mcp.IsValidProtocolVersion(header):
		return spec.UnsupportedVersion(header)
	case m.Kind != wire.Request:
		return nil
	}
	if named := firstHeader(r, mcp.HeaderName); spec.NamesTask(m.Method) && named != "" && named != rawjson.StringAt(m.Params, "taskId") {
		return mismatch(mcp.HeaderName + " header does not match the request")
	}
	if err := mcp.ValidateStandardHeaders(r.Header.Get, header, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return mismatch(err.Error())
	}
	return nil
}

// newPost returns the HTTP response to the message m. The client can resume the response stream if
// logs is not nil.
func newPost(w http.ResponseWriter, r *http.Request, m wire.Message, logs *events.Logs) *events.Post {
	return events.NewPost(w, events.PostOptions{
		Method: m.Method, ID: m.ID, Rev: rev.Of(firstHeader(r, protocolHeader)), Accept: firstHeader(r, "Accept"), Logs: logs,
	})
}

// resumeLogs returns the logs that let the client resume its streams, or nil if the client's
// revision does not support resuming.
func resumeLogs(c *session.Client) *events.Logs {
	if !events.Resumable(c.PeerOf(wire.Meta{}).Protocol) {
		return nil
	}
	return &c.Streams
}

// isStateless reports whether the header of a GET or DELETE request names revision 2026-07-28 or a
// later one. If so, it also writes an error response, because these revisions do not support GET
// and DELETE.
func isStateless(w http.ResponseWriter, r *http.Request, lacks string) bool {
	if !mcp.IsModernProtocol(firstHeader(r, protocolHeader)) {
		return false
	}
	w.Header().Set("Allow", http.MethodPost)
	http.Error(w, "this revision has no "+lacks, http.StatusMethodNotAllowed)
	return true
}

// reject responds to a refused message with a JSON-RPC error.
func reject(w http.ResponseWriter, status int, id []byte, fault *wire.Fault) {
	fault.ID = id
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(fault.Append(nil)) // an error means that the client has disconnected
}
