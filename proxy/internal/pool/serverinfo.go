package pool

import (
	"bytes"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// WithServerInfo returns the result of initialize or server/discover in the name of the
// only server: with its name, version and icons, and the other members that it sent. The
// proxy alone says the capabilities and the revision.
func WithServerInfo(u upstream.State, result []byte) []byte {
	if u.Phase != upstream.Up {
		return result
	}
	if u.ServerInfo != nil {
		result = wire.ReplaceMember(nil, result, "serverInfo", u.ServerInfo)
	}
	if ours, has := rawjson.Member(result, "_meta"); has {
		if u.ServerInfo != nil {
			ours = wire.ReplaceMember(nil, ours, mcp.MetaKeyServerInfo, u.ServerInfo)
		}
		meta, _ := rawjson.Member(u.Around, "_meta")
		result = wire.ReplaceMember(nil, result, "_meta", stamped(ours, meta))
	}
	return stamped(result, u.Around)
}

// stamped returns an object with those members of another that it lacks.
func stamped(object, members []byte) []byte {
	inner := bytes.TrimSpace(members)
	if rawjson.Kind(inner) != '{' {
		return object
	}
	return wire.AppendStamped(nil, object, inner[1:len(inner)-1])
}
