package router

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// NewHandshake returns an mcp-go server that answers initialize (including version negotiation),
// server/discover and ping, and refuses all other methods.
func NewHandshake(version string) *server.MCPServer {
	return server.NewMCPServer("petrigate", version, server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery())
}

// handshake lets mcp-go handle a request. For initialize, it also stores the client's
// self-description. For initialize and server/discover, it also declares the client's capabilities
// to the servers, and adds the servers' capabilities and instructions to the result.
func (r *Router) handshake(ctx context.Context, q session.Request) ([]byte, error) {
	c, m := q.Client, q.Message
	reply, err := json.Marshal(r.Server.HandleMessage(r.Server.WithContext(ctx, &mcpSession{id: c.ID}), m.Raw))
	if err != nil {
		return nil, errors.New("could not encode an answer")
	}
	if e, failed := rawjson.Member(reply, "error"); failed {
		return nil, upstream.Refused(e)
	}
	result, _ := rawjson.Member(reply, "result")
	if m.Method != "initialize" && m.Method != "server/discover" {
		return result, nil
	}
	if m.Method == "initialize" {
		c.Handshake(m.Params, rawjson.StringAt(result, "protocolVersion"))
		q.Meta = wire.Meta{}
	}
	r.Pool.Declare(ctx, q.Peer())
	return r.withOffers(ctx, q.Peer(), result), nil
}

// withOffers adds the servers' capabilities and instructions to the result of initialize or
// server/discover.
func (r *Router) withOffers(ctx context.Context, peer session.Peer, result []byte) []byte {
	r.Pool.AwaitUpstreams(ctx)
	result = wire.ReplaceMember(nil, result, "capabilities", r.capabilities(peer))
	if len(r.Pool.Servers) == 1 {
		result = pool.WithServerInfo(r.Pool.Servers[0].State(), result)
	}
	if text := r.instructions(); text != "" {
		result = wire.AppendStamped(nil, result, rawjson.Object{}.String("instructions", text).Bytes())
	}
	return result
}

// An mcpSession is the session that mcp-go sees. It has no state, because [session.Client] holds
// the state of a client.
type mcpSession struct{ id string }

func (g *mcpSession) Initialize()                                         {}
func (g *mcpSession) Initialized() bool                                   { return true }
func (g *mcpSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (g *mcpSession) SessionID() string                                   { return g.id }

// capabilities returns the capabilities declared to a client. Tools and logging are always
// declared. Prompts, resources, completions and tasks are declared if a server that is up declares
// them, or if the proxy's own status resource or status prompt needs them.
func (r *Router) capabilities(peer session.Peer) []byte {
	all := rawjson.Object(`{"logging":{},"tools":{"listChanged":true}`)
	for _, c := range [...]struct {
		name  string
		flags []string
		own   bool
	}{
		{"prompts", []string{"listChanged"}, r.Relay.OffersStatus()},
		{"resources", []string{"subscribe", "listChanged"}, r.Relay.OffersStatus()},
		{"completions", nil, false},
	} {
		if !c.own && len(r.Pool.ServersWith(c.name)) == 0 {
			continue
		}
		var one rawjson.Object
		for _, flag := range c.flags {
			if r.Pool.AnyHasFlag(c.name, flag) {
				one = one.Raw(flag, []byte("true"))
			}
		}
		all = all.Raw(c.name, one.Bytes())
	}
	return r.Tasks.WithCapability(all, peer).Bytes()
}

// maxInstructions is the maximum length of the instructions in bytes. It does not apply if the
// instructions of a single server are returned unchanged. Instructions should be short, because
// clients put them at the start of every conversation.
const maxInstructions = 2 << 10

const (
	instructionsHead = "petrigate decides which tool calls pass. A refused call was not made; the text of its result gives the reason, and the calls that " +
		"make it possible. The resource " + relay.StatusURI + " lists the tools that you can call now."
	cutMark = "\n[cut short]"
)

// instructions returns the proxy's instructions followed by the instructions of the servers that
// are up. It shortens them to maxInstructions bytes in total. If there are several servers, each
// server's instructions appear under its name. If no net enforces its decisions, the proxy's
// instructions are omitted, and the instructions of a single server are returned unchanged.
func (r *Router) instructions() string {
	var texts []string
	for _, u := range r.Pool.Servers {
		state := u.State()
		if state.Phase != upstream.Up || state.Instructions == "" {
			continue
		}
		text := state.Instructions
		if len(r.Pool.Servers) > 1 {
			text = u.Config.Name + ":\n" + text
		}
		texts = append(texts, text)
	}
	switch {
	case r.Relay.OffersStatus():
		return strings.Join(append([]string{instructionsHead}, fit(texts, maxInstructions-len(instructionsHead))...), "\n\n")
	case len(r.Pool.Servers) == 1:
		return strings.Join(texts, "")
	}
	return strings.Join(fit(texts, maxInstructions), "\n\n")
}

// fit shortens the given strings so that they have at most room bytes when joined by blank lines.
// All strings get the same number of bytes, except that bytes not needed by short strings go to
// longer ones. A string that would become too short to be useful is omitted.
func fit(texts []string, room int) []string {
	byLength := make([]int, len(texts))
	for i := range texts {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return len(texts[a]) - len(texts[b]) })
	cut := make([]string, len(texts))
	for k, i := range byLength {
		share := room / (len(texts) - k)
		cut[i] = cutAtLine(texts[i], share-len("\n\n"))
		if cut[i] != "" {
			room -= len(cut[i]) + len("\n\n")
		}
	}
	return slices.DeleteFunc(cut, func(s string) bool { return s == "" })
}

// cutAtLine returns text unchanged if it has at most n bytes. Otherwise, it shortens text to at
// most n bytes, including a mark for the cut. It cuts at the end of a line if enough text remains,
// and within a line otherwise. If too little text would remain to be useful, it returns "".
func cutAtLine(text string, n int) string {
	if len(text) <= n {
		return text
	}
	keep := n - len(cutMark)
	if keep < 40 { // a few words would not be useful
		return ""
	}
	head := text[:keep+1] // includes the byte at the limit, because it may be a line break
	if at := strings.LastIndexByte(head, '\n'); at > keep/2 {
		return head[:at] + cutMark
	}
	return strings.ToValidUTF8(text[:keep], "") + cutMark
}
