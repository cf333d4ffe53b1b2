package upstream

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A server of 2025-11-25 learns of the capabilities of its client in the handshake,
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

// prefers2025 reports whether the first client decided on 2025-11-25.
func (u *Upstream) prefers2025() (yes bool) {
	u.locked(func() { yes = u.prefer2025 })
	return yes
}

// Intend adds the capabilities of a client to those that the next handshake
// declares. The first client also decides on the family of revisions, where the
// server speaks both and the configuration leaves it open: what is of one family
// only is then not translated for it. Intend does not wait.
func (u *Upstream) Intend(of *rev.Rev, capabilities []byte) {
	u.locked(func() {
		u.declared = union(u.declared, capabilities)
		if p := u.host.Config.Protocol; !u.preferred && (p == "" || p == "auto") {
			u.preferred, u.prefer2025 = true, of == rev.Rev2025
		}
	})
}

// Declare is for a server that may be up already, after Intend: the server shakes hands
// anew where that is needed. Declare waits for that, no longer than ctx.
func (u *Upstream) Declare(ctx context.Context, capabilities []byte) {
	again := u.again()
	current := u.current.Load()
	switch {
	case current != nil && !u.Declares(capabilities):
		u.redeclare(ctx, *current, again)
	case current == nil && u.State().Phase == conn.Up: // it is being done for another client
		await(ctx, again)
	}
}

func await(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// redeclare shakes hands anew: over HTTP in a new session beside the old one,
// and with a child in a new process, if it has nothing to do, as with a new
// stream of HTTP+SSE. So begins the use of another family of revisions.
func (u *Upstream) redeclare(ctx context.Context, c conn.Conn, again <-chan struct{}) {
	if u.host.Options.Busy != nil && u.host.Options.Busy() {
		return
	}
	if h, overHTTP := c.(*streamable.Conn); overHTTP && !u.State().Rev().PerRequest {
		h.Redeclare(ctx)
	} else if c.Restart(ctx, errRedeclared) {
		await(ctx, again)
	}
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

// relayable is what our own requests to a server of 2026-07-28 declare.
func (u *Upstream) relayable() []byte {
	if u.host.Options.OnRequest == nil {
		return []byte(`{}`)
	}
	return []byte(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`)
}
