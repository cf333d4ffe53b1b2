package session

import (
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Notification converts a server's notification that belongs to a client's request. The result
// contains the client's own progress token. If the client has not asked for such notifications,
// Notification returns nil.
func (c *Client) Notification(p Peer, meta wire.Meta, method string, params []byte) []byte {
	switch method {
	case "notifications/progress":
		if meta.ProgressToken == nil {
			return nil
		}
		params = wire.ReplaceMember(nil, params, "progressToken", meta.ProgressToken)
	case "notifications/message":
		if !c.TakesLog(p, meta, params) {
			return nil
		}
	case spec.ElicitationComplete:
		if !p.Rev.CompleteURL {
			return nil
		}
	default:
		return nil
	}
	return wire.AppendNotification(nil, method, params)
}

// TakesLog reports whether the client gets notifications/message at the given level. The client
// chooses levels with logging/setLevel or, since 2026-07-28, in the request's _meta.
func (c *Client) TakesLog(p Peer, meta wire.Meta, params []byte) bool {
	level := spec.LogLevels[spec.Member(params, "level")]
	if p.Rev.LevelInMeta {
		wanted, asked := spec.LogLevels[meta.LogLevel]
		return asked && level >= wanted
	}
	return level >= spec.LogLevels[c.LogLevel()]
}

// WithLogLevel adds the client's log level to the _meta for a server that uses revision 2026-07-28.
// If the client has not set a level, the server sends no log messages.
func (c *Client) WithLogLevel(p Peer, m wire.Meta, meta []byte) []byte {
	level := m.LogLevel
	if !p.Rev.LevelInMeta {
		level = c.explicitLogLevel()
	}
	if _, known := spec.LogLevels[level]; !known || meta == nil {
		return meta
	}
	return append(meta[:len(meta):len(meta)], `,"io.modelcontextprotocol/logLevel":"`+level+`"`...)
}
