package upstream

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/httpsse"
	"github.com/petrigate/petrigate/proxy/internal/upstream/stdio"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A legacy server learns of the capabilities of its client in the handshake,
// and may show other tools to one that can do more. What is declared to it is
// what the clients behind us have declared, all together. A client that can do
// more than those before makes a new handshake necessary.

// errRedeclared ends a connection for the sake of such a handshake.
var errRedeclared = errors.New("more is to be declared to the server")

// Declares reports whether capabilities are declared to the server already, or
// are known to it by other means, or cannot be used.
func (u *Upstream) Declares(capabilities []byte) (declared bool) {
	if u.host.Options.OnRequest == nil {
		return true
	}
	u.locked(func() {
		if u.state.Era == conn.Modern {
			declared = u.state.Phase == conn.Up && !(u.preferLegacy && u.state.SpeaksLegacy)
		} else {
			declared = u.state.Phase == conn.Up && covers(u.inForce, capabilities)
		}
	})
	return declared
}

// Prefer lets the first client decide on the family of revisions, where the server
// speaks both and the configuration leaves it open: what is of one family only is
// then not translated for it. Like Intend it does not wait.
func (u *Upstream) Prefer(of *rev.Rev) {
	if u.host.Config.Protocol != "" && u.host.Config.Protocol != "auto" {
		return
	}
	u.locked(func() {
		if !u.preferred {
			u.preferred, u.preferLegacy = true, of == rev.Rev2025
		}
	})
}

// otherEra reports whether the server is to be spoken to in the older era
// instead of the newer one.
func (u *Upstream) otherEra(a agreement) bool {
	return a.era == conn.Modern && a.speaksLegacy && u.prefersLegacy()
}

func (u *Upstream) prefersLegacy() (legacy bool) {
	u.locked(func() { legacy = u.preferLegacy })
	return legacy
}

// Intend adds the capabilities of a client to those that the next handshake
// declares. It does not wait.
func (u *Upstream) Intend(capabilities []byte) {
	u.locked(func() { u.declared = union(u.declared, capabilities) })
}

// Declare is Intend for a server that may be up already: then it shakes hands
// anew where that is needed, and waits for that, no longer than ctx.
func (u *Upstream) Declare(ctx context.Context, capabilities []byte) {
	u.Intend(capabilities)
	again := u.again()
	current := u.current.Load()
	switch {
	case current != nil && !u.Declares(capabilities):
		u.redeclare(ctx, *current, again)
	case current == nil && u.State().Phase == conn.Up: // it is being done for another client
		conn.Await(ctx, again)
	}
}

// redeclare shakes hands anew: over HTTP in a new session beside the old one,
// and with a child in a new process, if it has nothing to do, as with a new
// stream of HTTP+SSE. So is another era
// begun.
func (u *Upstream) redeclare(ctx context.Context, c conn.Conn, again <-chan struct{}) {
	if u.host.Options.Busy != nil && u.host.Options.Busy() {
		return
	}
	h, overHTTP := c.(*streamable.Conn)
	if overHTTP && u.State().Era == conn.Legacy {
		h.Redeclare(ctx)
		return
	}
	switch c := c.(type) {
	case *streamable.Conn:
		c.Fail(errRedeclared)
	case *httpsse.Conn:
		if !c.Pending.Shut(ctx, func() { c.Fail(errRedeclared) }) {
			return
		}
	case *stdio.Conn:
		if !c.Pending.Shut(ctx, func() { c.Fail(errRedeclared) }) {
			return
		}
	}
	conn.Await(ctx, again)
}

// again is closed when the server is up the next time.
func (u *Upstream) again() (up <-chan struct{}) {
	u.locked(func() {
		if u.upAgain == nil {
			u.upAgain = make(chan struct{})
		}
		up = u.upAgain
	})
	return up
}

// Declared is what the server has been told of the capabilities of its client,
// an object. A modern server is told with each request.
func (u *Upstream) Declared() (declared []byte) {
	u.locked(func() { declared = u.inForce })
	return declared
}

// capabilities is what is declared now.
func (u *Upstream) capabilities() (declared []byte) {
	u.locked(func() { declared = u.declared })
	return declared
}

// declare puts what is declared in the place of what mcp-go would declare in
// the params of a handshake.
func (u *Upstream) declare(method string, params []byte) []byte {
	if method == string(mcp.MethodInitialize) {
		return wire.ReplaceMember(nil, params, "capabilities", u.capabilities())
	}
	meta, ok := rawjson.Member(params, "_meta")
	if !ok {
		return params
	}
	return wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, mcp.MetaKeyClientCapabilities, u.relayable()))
}

// relayable is what our own requests to a modern server declare.
func (u *Upstream) relayable() []byte {
	if u.host.Options.OnRequest == nil {
		return []byte(`{}`)
	}
	return []byte(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`)
}
