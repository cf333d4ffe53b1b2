package session

import (
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Note is a notification of an upstream that belongs to a request, under the
// client's own progress token; nil: the client does not want it.
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

// WantsLog reports whether the client asked for a message of that level: by
// logging/setLevel, or since 2026-07-28 in the request itself.
func (c *Client) TakesLog(p Peer, meta wire.Meta, params []byte) bool {
	level := spec.LogLevels[spec.Member(params, "level")]
	if p.Rev.LevelInMeta {
		wanted, asked := spec.LogLevels[meta.LogLevel]
		return asked && level >= wanted
	}
	return level >= spec.LogLevels[c.LogLevel()]
}

// WithLogLevel adds to the _meta for an upstream of 2026-07-28 the level of the log
// messages that the client wants: without it there are none.
func (c *Client) WithLogLevel(p Peer, m wire.Meta, meta []byte) []byte {
	level := m.LogLevel
	if !p.Rev.LevelInMeta {
		level = c.setLogLevel()
	}
	if _, known := spec.LogLevels[level]; !known || meta == nil {
		return meta
	}
	return append(meta[:len(meta):len(meta)], `,"io.modelcontextprotocol/logLevel":"`+level+`"`...)
}
