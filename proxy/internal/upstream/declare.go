package upstream

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A server that uses revision 2025-11-25 learns its client's capabilities from initialize, and may
// offer different tools depending on them. The proxy declares the union of its clients'
// capabilities. When a client has capabilities that were not declared, the handshake must be
// repeated.

// errRedeclared means that the connection was closed in order to repeat the handshake.
var errRedeclared = errors.New("declaring more capabilities to the server")

// Declares reports whether the server can serve a client with the given capabilities without
// another handshake. If Options.OnRequest is nil, it always returns true. Otherwise, it returns
// false while the server is not up.
func (u *Upstream) Declares(capabilities []byte) (declared bool) {
	if u.host.Options.OnRequest == nil {
		return true
	}
	u.withLock(func() {
		switch {
		case u.state.Phase != conn.Up:
		case u.state.Rev().PerRequest:
			declared = !(u.prefer2025 && u.state.Speaks2025)
		default:
			declared = covers(u.inForce, capabilities)
		}
	})
	return declared
}

// handshakeWishes returns the client capabilities to declare in the next handshake. It also reports
// whether the handshake should prefer revision 2025-11-25. This is the case if the first client
// uses [rev.Rev2025] and the configuration does not choose a protocol.
func (u *Upstream) handshakeWishes() (declared []byte, prefers2025 bool) {
	u.withLock(func() { declared, prefers2025 = u.declared, u.prefer2025 })
	return declared, prefers2025
}

// Intend adds a client's capabilities to the capabilities declared in the next handshake. Unless
// the configuration chooses a protocol, the first call also makes the handshake prefer the client's
// revision, so that the client's messages need no translation. Intend does not block.
func (u *Upstream) Intend(of *rev.Rev, capabilities []byte) {
	u.withLock(func() {
		u.declared = union(u.declared, capabilities)
		if p := u.host.Config.Protocol; !u.preferred && (p == "" || p == "auto") {
			u.preferred, u.prefer2025 = true, of == rev.Rev2025
		}
	})
}

// Declare repeats the handshake if the server does not know a client's capabilities yet. It waits
// until the new handshake is complete or ctx is done. If the handshake cannot be repeated now,
// Declare returns immediately. The caller must first pass the capabilities to [Upstream.Intend].
func (u *Upstream) Declare(ctx context.Context, capabilities []byte) {
	again := u.nextUp()
	current := u.current.Load()
	switch {
	case current != nil && !u.Declares(capabilities):
		u.redeclare(ctx, *current, again)
	case current == nil && u.State().Phase == conn.Up: // another client has already caused a handshake, which is still running
		wait.For(ctx, again)
	}
}

// redeclare repeats the handshake, unless Options.Busy returns true. Over streamable HTTP, it opens
// a new session (revision 2025-11-25) or a new connection (revision 2026-07-28), and in-flight
// requests continue. Over other transports, it does nothing if a request that may take a long time,
// such as tools/call, is in flight. If only short requests are in flight, it waits for them, and
// then replaces the connection.
func (u *Upstream) redeclare(ctx context.Context, c conn.Conn, again <-chan struct{}) {
	if u.host.Options.Busy != nil && u.host.Options.Busy() {
		return
	}
	if h, overHTTP := c.(*streamable.Conn); overHTTP && !u.Rev().PerRequest {
		h.Redeclare(ctx)
	} else if c.Restart(ctx, errRedeclared) {
		wait.For(ctx, again)
	}
}

// nextUp returns a channel that is closed the next time the server comes up.
func (u *Upstream) nextUp() (up <-chan struct{}) {
	u.withLock(func() {
		if u.upAgain == nil {
			u.upAgain = make(chan struct{})
		}
		up = u.upAgain
	})
	return up
}

// declare returns the params of a handshake request with the client capabilities that the proxy
// declares. They replace the capabilities that mcp-go has chosen.
func (u *Upstream) declare(method string, params []byte) []byte {
	if method == string(mcp.MethodInitialize) {
		declared, _ := u.handshakeWishes()
		return wire.ReplaceMember(nil, params, "capabilities", declared)
	}
	meta, ok := rawjson.Member(params, "_meta")
	if !ok {
		return params
	}
	return wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, mcp.MetaKeyClientCapabilities, u.relayable()))
}

// relayable returns the client capabilities that the proxy can forward. The proxy declares them in
// its own requests to a server that uses revision 2026-07-28.
func (u *Upstream) relayable() []byte {
	if u.host.Options.OnRequest == nil {
		return []byte(`{}`)
	}
	return []byte(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`)
}

// RequestMeta returns the _meta members, without braces, that a server of revision 2026-07-28
// expects in each request. For revision 2025-11-25, it returns nil. capabilities holds the client's
// capabilities; nil means all capabilities that the proxy can forward.
func (u *Upstream) RequestMeta(capabilities []byte) []byte {
	if !u.Rev().PerRequest {
		return nil
	}
	return u.ownMeta(capabilities)
}

func (u *Upstream) ownMeta(capabilities []byte) []byte {
	if capabilities == nil {
		capabilities = u.relayable()
	}
	return append(u.meta[:len(u.meta):len(u.meta)], capabilities...)
}

// An ability is a client capability that the proxy can forward. It may have parts, such as the
// modes of elicitation. A client does not have to support all of them.
type ability struct {
	name  string
	parts []string
}

func abilities() [3]ability {
	return [...]ability{
		{name: "roots"},
		{name: "sampling", parts: []string{"context", "tools"}},
		{name: "elicitation", parts: []string{"form", "url"}},
	}
}

// has reports whether the declared capability includes the given part.
func (a ability) has(declared []byte, part string) bool {
	_, ok := rawjson.Member(declared, part)
	if a.name == "elicitation" && part == "form" { // an elicitation capability without modes stands for forms, which were once the only mode
		_, url := rawjson.Member(declared, "url")
		return ok || !url
	}
	return ok
}

// within reports whether the second declaration of a capability includes every part of the first.
func (a ability) within(b, wider []byte) bool {
	for _, part := range a.parts {
		if a.has(b, part) && !a.has(wider, part) {
			return false
		}
	}
	return true
}

// union returns the union of x and y, two declarations of the same capability. If one includes the
// other, it returns the larger one unchanged.
func (a ability) union(x, y []byte) []byte {
	switch {
	case a.within(y, x):
		return x
	case a.within(x, y):
		return y
	}
	var all rawjson.Object
	for _, part := range a.parts {
		if a.has(x, part) || a.has(y, part) {
			all = all.Raw(part, []byte(`{}`))
		}
	}
	return all.Bytes()
}

// covers reports whether the capabilities in a include all those in b.
func covers(a, b []byte) bool {
	for _, x := range abilities() {
		want, ok := rawjson.Member(b, x.name)
		if !ok {
			continue
		}
		have, ok := rawjson.Member(a, x.name)
		if !ok || !x.within(want, have) {
			return false
		}
	}
	return true
}

// union returns the capabilities in a or b that the proxy can forward. If both contain a
// capability, the result includes the parts from both, such as the form and url modes of
// elicitation.
func union(a, b []byte) []byte {
	var all rawjson.Object
	for _, x := range abilities() {
		value, ok := rawjson.Member(a, x.name)
		other, too := rawjson.Member(b, x.name)
		switch {
		case !ok && !too:
			continue
		case !ok:
			value = other
		case too:
			value = x.union(value, other)
		}
		all = all.Raw(x.name, value)
	}
	return all.Bytes()
}
