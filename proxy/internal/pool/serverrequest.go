package pool

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// serverNameKey is the member of _meta that contains the name of the server that has sent a
// request.
const serverNameKey = "io.petrigate/upstream"

// WithServerName returns the params of a server's request to a client. If the configuration
// contains several servers, it adds the name of the server to _meta. A server cannot forge the
// name, because the proxy removes members of its own namespace from the messages of servers.
func (u *Server) WithServerName(params []byte) []byte {
	if !u.several {
		return params
	}
	meta, _ := rawjson.Member(params, "_meta")
	if rawjson.Kind(meta) != '{' {
		meta = nil
	}
	meta = wire.SetMember(meta, serverNameKey, rawjson.AppendString(nil, u.Config.Name))
	return wire.SetMember(params, "_meta", meta)
}

// WithServerNames returns an input_required result of u, after adding the server's name to each of
// its inputRequests.
func (u *Server) WithServerNames(result []byte) []byte {
	requests, ok := rawjson.Member(result, "inputRequests")
	if !ok || !u.several {
		return result
	}
	changed := requests
	rawjson.Members(requests, func(key, request []byte, _ int) bool {
		params, _ := rawjson.Member(request, "params")
		request = wire.SetMember(request, "params", u.WithServerName(params))
		changed = wire.ReplaceMember(nil, changed, string(key), request)
		return true
	})
	return wire.ReplaceMember(nil, result, "inputRequests", changed)
}

// Unanswered returns the requests that have not been answered. It reuses the slice all.
func Unanswered(all []*upstream.ServerRequest) []*upstream.ServerRequest {
	kept := all[:0]
	for _, q := range all {
		if q.Context().Err() == nil {
			kept = append(kept, q)
		}
	}
	clear(all[len(kept):])
	return kept
}
