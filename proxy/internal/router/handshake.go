package router

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// NewHandshake is the part of the protocol that mcp-go speaks for us:
// initialize, server/discover, version negotiation, ping, and the refusal of
// every method that is not known.
func NewHandshake(version string) *server.MCPServer {
	return server.NewMCPServer("petrigate", version, server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery())
}

// shakeHands lets mcp-go answer. Its answer goes out under the id that the
// client sent, byte for byte.
func (r *Router) handshake(ctx context.Context, c *session.Client, m wire.Message, s spec.Stream) {
	ctx = r.Server.WithContext(ctx, &mcpSession{id: c.ID})
	reply, err := json.Marshal(r.Server.HandleMessage(ctx, m.Raw))
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInternal, "no answer could be made", nil))
		return
	}
	if e, failed := rawjson.Member(reply, "error"); failed {
		s.Reply(wire.ErrorHead(m.ID), e, wire.Tail)
		return
	}
	result, _ := rawjson.Member(reply, "result")
	if m.Method == "initialize" {
		c.Handshake(m.Params, spec.Member(result, "protocolVersion"))
		r.Pool.Declare(ctx, c.PeerOf(wire.Meta{}))
		result = r.withOffers(ctx, c.PeerOf(wire.Meta{}), result)
	}
	if m.Method == "server/discover" {
		meta, _ := wire.ParseMeta(m.Params)
		r.Pool.Declare(ctx, c.PeerOf(meta))
		result = r.withOffers(ctx, c.PeerOf(meta), result)
	}
	s.Reply(wire.ResultHead(m.ID), result, wire.Tail)
}

// introduced is the answer to a handshake with what the upstreams offer.
func (r *Router) withOffers(ctx context.Context, peer session.Peer, result []byte) []byte {
	r.Pool.AwaitUpstreams(ctx)
	result = wire.ReplaceMember(nil, result, "capabilities", r.capabilities(peer))
	if len(r.Pool.Servers) == 1 {
		result = pool.WithServerInfo(r.Pool.Servers[0].State(), result)
	}
	if text := r.instructions(); text != "" {
		result = wire.AppendStamped(nil, result, rawjson.AppendString([]byte(`"instructions":`), text))
	}
	return result
}

// greeter is the session that mcp-go sees. It holds nothing: a client's state
// is ours.
type mcpSession struct{ id string }

func (g *mcpSession) Initialize()                                         {}
func (g *mcpSession) Initialized() bool                                   { return true }
func (g *mcpSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (g *mcpSession) SessionID() string                                   { return g.id }

// capabilities is what clients are offered: the tools, whose list is ours, and
// else what the upstreams that are connected have, and the status.
func (r *Router) capabilities(peer session.Peer) []byte {
	b := []byte(`{"logging":{},"tools":{"listChanged":true}`)
	for _, c := range [...]struct {
		name  string
		flags []string
		own   bool
	}{
		{"prompts", []string{"listChanged"}, r.Relay.OffersStatus()},
		{"resources", []string{"subscribe", "listChanged"}, r.Relay.OffersStatus()},
		{"completions", nil, false},
	} {
		if !c.own && len(r.Pool.Offering(c.name)) == 0 {
			continue
		}
		b = append(append(append(b, `,"`...), c.name...), `":{`...)
		for _, flag := range c.flags {
			if !r.Pool.AnyCan(c.name, flag) {
				continue
			}
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), flag...), `":true`...)
		}
		b = append(b, '}')
	}
	return append(r.Tasks.AppendCapability(b, peer), '}')
}
